#include "trainer/loss/loss.hpp"

#include <torch/torch.h>

#include <limits>
#include <numbers>
#include <numeric>

#include "trainer/loss/level_loss.hpp"

namespace evolve::trainer {
namespace {

/// A map [batch, anchors, ny, nx, 5 + nc] as rows of 5 + nc numbers, [rows, 5 + nc]: none is moved
/// where they lie so in memory.
torch::Tensor rows_of(const torch::Tensor& map, bool by_anchor) {
  return (by_anchor ? map : map.permute({0, 2, 3, 1, 4})).reshape({-1, map.size(4)});
}

/// Mean cross-entropy of logits, focal where gamma asks for it: [1].
torch::Tensor cross_entropy(const torch::Tensor& logits, const torch::Tensor& labels,
                            double positive_weight, double gamma) {
  const auto weight = torch::full({1}, positive_weight, labels.options());
  if (gamma <= 0) {
    return torch::binary_cross_entropy_with_logits(logits, labels, {}, weight).view(1);
  }
  constexpr double alpha = 0.25;
  const auto loss =
      torch::binary_cross_entropy_with_logits(logits, labels, {}, weight, at::Reduction::None);
  // 1 - p_t of the paper. Where a probability rounds to 1 it must not become 0: a power below 1 has
  // an infinite slope there, and YOLOv5's gradient is NaN.
  const auto missed = (labels * (-logits).sigmoid() + (1 - labels) * logits.sigmoid())
                          .clamp_min(std::numeric_limits<float>::min());
  const auto alpha_t = labels * alpha + (1 - labels) * (1 - alpha);
  return (loss * (alpha_t * missed.pow(gamma))).mean().view(1);
}

/// level_loss() for autograd: [3], box, obj, cls with their gains. What is derived is their sum, so
/// they must go into the loss with one factor.
class LevelLoss : public torch::autograd::Function<LevelLoss> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& rows,
                               const LevelMatches& matches, const LossOptions& options,
                               double obj_gain, bool with_gradient) {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    const auto gradient = with_gradient ? torch::zeros_like(rows) : torch::Tensor();
    const auto items =
        level_loss({rows.data_ptr<float>(), rows.size(0), rows.size(1)}, matches, options, obj_gain,
                   with_gradient ? gradient.data_ptr<float>() : nullptr);
    context->save_for_backward({gradient});
    // A sum beyond float becomes infinite, for the training to stop at.
    return torch::tensor({items[0], items[1], items[2]}, torch::kDouble).to(torch::kFloat);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list factors) {
    const auto factor = factors[0][0];
    return {context->get_saved_variables()[0] * factor, {}, {}, {}, {}};
  }
};

}  // namespace

torch::Tensor complete_iou(const torch::Tensor& a, const torch::Tensor& b) {
  constexpr double epsilon = 1e-7;
  const auto a_parts = a.split(2, 1), b_parts = b.split(2, 1);
  const auto a_sides = a_parts[1].unbind(1), b_sides = b_parts[1].unbind(1);
  const auto a_half = a_parts[1] / 2, b_half = b_parts[1] / 2;
  const auto a_low = a_parts[0] - a_half, a_high = a_parts[0] + a_half;
  const auto b_low = b_parts[0] - b_half, b_high = b_parts[0] + b_half;

  const auto overlap = (a_high.minimum(b_high) - a_low.maximum(b_low)).clamp_min(0).unbind(1);
  const auto intersection = overlap[0] * overlap[1];
  const auto iou =
      intersection / (a_sides[0] * a_sides[1] + b_sides[0] * b_sides[1] - intersection + epsilon);

  const auto hull = a_high.maximum(b_high) - a_low.minimum(b_low);
  const auto diagonal = hull.square().sum(1) + epsilon;
  const auto distance = (b_low + b_high - a_low - a_high).square().sum(1) / 4;

  constexpr double pi = std::numbers::pi;
  // A box so small that it has no sides has no shape either: in a training that is where it
  // diverges, as YOLOv5's does, but a validation goes on.
  constexpr double least = std::numeric_limits<float>::min();
  const auto height = torch::GradMode::is_enabled() ? a_sides[1] : a_sides[1].clamp_min(least);
  const auto v =
      (torch::atan(b_sides[0] / b_sides[1]) - torch::atan(a_sides[0] / height)).square() *
      (4 / (pi * pi));
  const auto alpha = (v.detach() / (v.detach() - iou.detach() + (1 + epsilon)));
  return iou - (distance / diagonal + v * alpha);
}

Loss::Loss(const LossOptions& options, const torch::Tensor& anchors) : options_(options) {
  const auto cells = anchors.to(torch::kCPU, torch::kFloat).contiguous();
  const auto sizes = cells.accessor<float, 3>();
  for (std::int64_t level = 0; level < sizes.size(0); ++level) {
    auto& level_anchors = anchors_.emplace_back();
    for (std::int64_t a = 0; a < sizes.size(1); ++a) {
      level_anchors.push_back({sizes[level][a][0], sizes[level][a][1]});
    }
  }
  balance_ = anchors_.size() == 3 ? std::vector<double>{4, 1, 0.4}
                                  : std::vector<double>{4, 1, 0.25, 0.06, 0.02};
  TORCH_CHECK(anchors_.size() <= balance_.size(), "the loss has no weights for ", anchors_.size(),
              " levels");
}

Matches Loss::matches(const std::vector<Target>& targets, std::int64_t images,
                      const std::vector<MapSize>& sizes, bool by_anchor) const {
  std::vector<LevelShape> levels;
  for (std::size_t i = 0; i < sizes.size(); ++i) levels.push_back({anchors_[i], sizes[i]});
  return match(targets, levels, images, static_cast<float>(options_.anchor_t), by_anchor);
}

LossValue Loss::operator()(const std::vector<torch::Tensor>& maps,
                           const std::vector<Target>& targets) const {
  std::vector<MapSize> sizes;
  bool by_anchor = true;
  for (const auto& map : maps) {
    sizes.push_back({map.size(2), map.size(3)});
    by_anchor = by_anchor && map.is_contiguous();
  }
  const Matches found = matches(targets, maps.front().size(0), sizes, by_anchor);
  const auto bytes = torch::empty(found.bytes(), torch::kByte);
  found.write(static_cast<std::byte*>(bytes.data_ptr()));
  return (*this)(maps, tensors_of(found, bytes.to(maps.front().device())));
}

LossValue Loss::operator()(const std::vector<torch::Tensor>& maps,
                           const MatchTensors& matched) const {
  std::vector<torch::Tensor> levels;
  for (const auto& map : maps) levels.push_back(rows_of(map, matched.by_anchor));
  const bool loops = operators_ == Operators::fast && maps.front().is_cpu() &&
                     maps.front().scalar_type() == torch::kFloat;
  const auto items = loops ? by_levels(levels, matched) : by_operators(levels, matched);
  return {items.sum() * double(maps.front().size(0)), items.detach()};
}

torch::Tensor Loss::by_levels(const std::vector<torch::Tensor>& levels,
                              const MatchTensors& matched) const {
  torch::Tensor items;
  std::int64_t first = 0;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const LevelMatches matches{matched.counts[i], matched.rows.data_ptr<std::int64_t>() + first,
                               matched.classes.data_ptr<std::int64_t>() + first,
                               matched.boxes.data_ptr<float>() + 4 * first,
                               matched.anchor_sizes.data_ptr<float>() + 2 * first};
    first += matches.count;
    const auto rows = levels[i].contiguous();
    const auto level = LevelLoss::apply(rows, matches, options_, options_.obj * balance_[i],
                                        rows.requires_grad() && torch::GradMode::is_enabled());
    items = items.defined() ? items + level : level;
  }
  return items;
}

torch::Tensor Loss::by_operators(const std::vector<torch::Tensor>& levels,
                                 const MatchTensors& matched) const {
  const auto matched_rows = matched.rows.split_with_sizes(matched.counts);
  std::vector<torch::Tensor> predictions;
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    sizes.push_back(levels[i].size(0));
    if (matched.counts[i] == 0) continue;
    predictions.push_back(levels[i].index_select(0, matched_rows[i]));
  }
  const auto zero = torch::zeros(1, levels.front().options().requires_grad(false));
  auto box = zero, obj = zero, cls = zero;
  const auto object_labels =
      torch::zeros(std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}), zero.options());
  if (!predictions.empty()) {
    const std::int64_t nc = levels.front().size(1) - 5;
    const auto parts = torch::cat(predictions).split_with_sizes({4, 1, nc}, 1);
    const auto s = (parts[0].sigmoid() * 2).split(2, 1);
    const auto boxes = torch::cat({s[0] - 0.5, s[1].square() * matched.anchor_sizes}, 1);
    const auto iou = complete_iou(boxes, matched.boxes);
    object_labels.index_copy_(0, matched.deciding_rows,
                              iou.detach().clamp_min(0).index_select(0, matched.deciding));
    const double smooth = options_.label_smoothing / 2;
    const auto labels = torch::full(parts[2].sizes(), smooth, zero.options())
                            .scatter_(1, matched.classes, 1 - smooth)
                            .split_with_sizes(matched.counts);
    const auto losses = (1 - iou).split_with_sizes(matched.counts);
    const auto logits = parts[2].split_with_sizes(matched.counts);
    for (std::size_t i = 0; i < levels.size(); ++i) {
      if (matched.counts[i] == 0) continue;
      box = box + losses[i].mean();
      if (nc > 1) {
        cls = cls + cross_entropy(logits[i], labels[i], options_.cls_pw, options_.fl_gamma);
      }
    }
  }
  const auto labels = object_labels.split_with_sizes(sizes);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const auto loss =
        cross_entropy(levels[i].select(1, 4), labels[i], options_.obj_pw, options_.fl_gamma);
    obj = obj + loss * balance_[i];
  }
  return torch::cat({box * options_.box, obj * options_.obj, cls * options_.cls});
}

}  // namespace evolve::trainer

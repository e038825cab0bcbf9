#include "trainer/loss.hpp"

#include <torch/torch.h>

#include <numbers>
#include <unordered_set>

namespace evolve::trainer {
namespace {

/// The matches of all levels as tensors. n is their number, whatever the level.
struct Matched {
  /// Per level: [n of the level], rows of its map seen as [batch * ny * nx * anchors, 5 + nc].
  std::vector<torch::Tensor> rows;
  /// [n, 4], [n, 2], [n]
  torch::Tensor boxes, anchor_sizes, classes;
  /// [n]: 1 / number of matches of the level, so that a sum over all is a sum of the levels' means.
  torch::Tensor weights;
  /// Places in 0..n of those that decide their cell's objectness, and the cells' places among those
  /// of all levels in order.
  torch::Tensor deciding, cells;
  std::int64_t count = 0;
};

template <class T>
torch::Tensor tensor_of(const std::vector<T>& values, const torch::Device& device,
                        torch::IntArrayRef shape) {
  return torch::tensor(at::ArrayRef<T>(values), torch::TensorOptions(device)).view(shape);
}

/// Of each cell's several matches the last one, in order.
std::vector<std::int64_t> last_of_each(const std::vector<std::int64_t>& cells) {
  std::unordered_set<std::int64_t> seen;
  std::vector<std::int64_t> last;
  for (auto i = static_cast<std::int64_t>(cells.size()) - 1; i >= 0; --i) {
    if (seen.insert(cells[i]).second) last.push_back(i);
  }
  return last;
}

/// Matches as plain numbers while they are gathered.
struct Gathered {
  std::vector<float> boxes, anchor_sizes, weights;
  std::vector<std::int64_t> classes, cells;
};

Matched tensors_of(const Gathered& g, const torch::Device& device) {
  Matched matched;
  matched.count = static_cast<std::int64_t>(g.classes.size());
  if (matched.count == 0) return matched;
  matched.boxes = tensor_of(g.boxes, device, {-1, 4});
  matched.anchor_sizes = tensor_of(g.anchor_sizes, device, {-1, 2});
  matched.weights = tensor_of(g.weights, device, {-1});
  matched.classes = tensor_of(g.classes, device, {-1, 1});
  const auto deciding = last_of_each(g.cells);
  matched.deciding = tensor_of(deciding, device, {-1});
  matched.cells = tensor_of(g.cells, device, {-1}).index_select(0, matched.deciding);
  return matched;
}

Matched match_all(const std::vector<torch::Tensor>& maps, const std::vector<Target>& targets,
                  const std::vector<std::vector<std::array<float, 2>>>& anchors, double anchor_t) {
  const torch::Device device = maps.front().device();
  Gathered g;
  std::vector<torch::Tensor> level_rows;
  std::int64_t first_cell = 0;
  for (std::size_t level = 0; level < maps.size(); ++level) {
    const auto& map = maps[level];
    const std::int64_t na = map.size(1), ny = map.size(2), nx = map.size(3);
    const auto matches = assign(targets, anchors[level], {ny, nx}, static_cast<float>(anchor_t));
    std::vector<std::int64_t> rows;
    for (const Match& m : matches) {
      rows.push_back(((m.picture * ny + m.y) * nx + m.x) * na + m.anchor);
      g.cells.push_back(first_cell + rows.back());
      g.classes.push_back(m.cls);
      g.boxes.insert(g.boxes.end(), m.box.begin(), m.box.end());
      g.anchor_sizes.insert(g.anchor_sizes.end(), m.anchor_size.begin(), m.anchor_size.end());
    }
    g.weights.resize(g.classes.size(), 1.F / static_cast<float>(matches.size()));
    level_rows.push_back(tensor_of(rows, device, {-1}));
    first_cell += map.size(0) * na * ny * nx;
  }
  Matched matched = tensors_of(g, device);
  matched.rows = std::move(level_rows);
  return matched;
}

/// Cross-entropy of logits, focal where gamma asks for it; weighted sum.
torch::Tensor cross_entropy(const torch::Tensor& logits, const torch::Tensor& labels,
                            const torch::Tensor& weights, double positive_weight, double gamma) {
  const c10::optional<torch::Tensor> pos_weight =
      positive_weight == 1
          ? c10::nullopt
          : c10::make_optional(torch::full({1}, positive_weight, logits.options()));
  if (gamma == 0) {
    return torch::binary_cross_entropy_with_logits(logits, labels, weights, pos_weight,
                                                   at::Reduction::Sum);
  }
  constexpr double alpha = 0.25;
  const auto loss =
      torch::binary_cross_entropy_with_logits(logits, labels, {}, pos_weight, at::Reduction::None);
  const auto p = logits.sigmoid();
  const auto p_t = labels * p + (1 - labels) * (1 - p);
  const auto alpha_t = labels * alpha + (1 - labels) * (1 - alpha);
  return (loss * alpha_t * (1 - p_t).pow(gamma) * weights).sum();
}

}  // namespace

LossOptions loss_options(const hyp::Hyperparameters& hyp, const ModelConfig& config, int imgsz,
                         double label_smoothing) {
  const double per_level = 3.0 / config.levels();
  const double size = imgsz / 640.0;
  return {.box = hyp.number("box") * per_level,
          .cls = hyp.number("cls") * config.nc / 80 * per_level,
          .obj = hyp.number("obj") * size * size * per_level,
          .cls_pw = hyp.number("cls_pw"),
          .obj_pw = hyp.number("obj_pw"),
          .anchor_t = hyp.number("anchor_t"),
          .fl_gamma = hyp.number("fl_gamma"),
          .label_smoothing = label_smoothing};
}

torch::Tensor complete_iou(const torch::Tensor& a, const torch::Tensor& b) {
  constexpr double epsilon = 1e-7;
  const auto aw = a.select(1, 2), ah = a.select(1, 3), bw = b.select(1, 2), bh = b.select(1, 3);
  const auto a_half = a.slice(1, 2, 4) / 2, b_half = b.slice(1, 2, 4) / 2;
  const auto a_centre = a.slice(1, 0, 2), b_centre = b.slice(1, 0, 2);
  const auto a_low = a_centre - a_half, a_high = a_centre + a_half;
  const auto b_low = b_centre - b_half, b_high = b_centre + b_half;

  const auto overlap = (a_high.minimum(b_high) - a_low.maximum(b_low)).clamp_min(0);
  const auto intersection = overlap.select(1, 0) * overlap.select(1, 1);
  const auto iou = intersection / (aw * ah + bw * bh - intersection + epsilon);

  const auto hull = a_high.maximum(b_high) - a_low.minimum(b_low);
  const auto diagonal = hull.square().sum(1) + epsilon;
  const auto distance = (b_centre - a_centre).square().sum(1);

  constexpr double pi = std::numbers::pi;
  const auto v = (torch::atan(bw / bh) - torch::atan(aw / ah)).square() * (4 / (pi * pi));
  const auto alpha = (v / (v - iou + (1 + epsilon))).detach();
  return iou - (distance / diagonal + v * alpha);
}

Loss::Loss(const LossOptions& options, const torch::Tensor& anchors) : options_(options) {
  const auto cells = anchors.to(torch::kCPU).contiguous();
  const auto sizes = cells.accessor<float, 3>();
  for (std::int64_t level = 0; level < sizes.size(0); ++level) {
    auto& level_anchors = anchors_.emplace_back();
    for (std::int64_t a = 0; a < sizes.size(1); ++a) {
      level_anchors.push_back({sizes[level][a][0], sizes[level][a][1]});
    }
  }
  balance_ = anchors_.size() == 3 ? std::vector<double>{4, 1, 0.4}
                                  : std::vector<double>{4, 1, 0.25, 0.06, 0.02};
}

LossValue Loss::operator()(const std::vector<torch::Tensor>& maps,
                           const std::vector<Target>& targets) const {
  const Matched matched = match_all(maps, targets, anchors_, options_.anchor_t);
  const std::int64_t outputs = maps.front().size(4);
  std::vector<torch::Tensor> objectness, cell_weights, predictions;
  for (std::size_t level = 0; level < maps.size(); ++level) {
    // A view where the map comes from a channels-last convolution.
    const auto rows = maps[level].permute({0, 2, 3, 1, 4}).reshape({-1, outputs});
    predictions.push_back(rows.index_select(0, matched.rows[level]));
    objectness.push_back(rows.select(1, 4));
    cell_weights.push_back(torch::full({rows.size(0)}, balance_[level] / double(rows.size(0)),
                                       rows.options().requires_grad(false)));
  }
  const auto logits = torch::cat(objectness);
  auto object_labels = torch::zeros_like(logits).detach();
  auto box = torch::zeros({}, logits.options().requires_grad(false));
  auto cls = box;
  if (matched.count > 0) {
    const auto p = torch::cat(predictions);
    const auto s = p.slice(1, 0, 4).sigmoid() * 2;
    const auto boxes =
        torch::cat({s.slice(1, 0, 2) - 0.5, s.slice(1, 2, 4).square() * matched.anchor_sizes}, 1);
    const auto iou = complete_iou(boxes, matched.boxes);
    box = ((1 - iou) * matched.weights).sum();
    object_labels.index_put_({matched.cells},
                             iou.detach().clamp_min(0).index_select(0, matched.deciding));
    if (const std::int64_t nc = outputs - 5; nc > 1) {
      const double smooth = options_.label_smoothing / 2;
      const auto labels = torch::full({matched.count, nc}, smooth, matched.boxes.options())
                              .scatter_(1, matched.classes, 1 - smooth);
      const auto weights = (matched.weights / double(nc)).unsqueeze(1);
      cls = cross_entropy(p.slice(1, 5), labels, weights, options_.cls_pw, options_.fl_gamma);
    }
  }
  const auto obj = cross_entropy(logits, object_labels, torch::cat(cell_weights), options_.obj_pw,
                                 options_.fl_gamma);
  const auto items = torch::stack({box * options_.box, obj * options_.obj, cls * options_.cls});
  return {items.sum() * double(maps.front().size(0)), items.detach()};
}

}  // namespace evolve::trainer

#include "trainer/run/setup.hpp"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.hpp"
#include "core/number.hpp"
#include "hyp/space.hpp"
#include "trainer/checkpoint/checkpoint.hpp"
#include "trainer/checkpoint/pretrained.hpp"

namespace evolve::trainer {
namespace {

/// The hyperparameter `anchors`, rounded, unless anchors stay as they are: where it is 0, too.
std::optional<int> anchors_asked_for(const TrainOptions& options, const hyp::Hyperparameters& hyp) {
  if (options.noautoanchor || !hyp.find("anchors")) return {};
  const auto count = static_cast<int>(std::nearbyint(hyp.number("anchors")));
  return count == 0 ? std::nullopt : std::optional(count);
}

/// In pixels, level by level.
std::vector<data::Size> anchors_in_pixels(const ModelConfig& config) {
  std::vector<data::Size> sizes;
  for (const auto& level : config.anchors) {
    for (std::size_t i = 0; i + 1 < level.size(); i += 2) sizes.push_back({level[i], level[i + 1]});
  }
  return sizes;
}

/// Gives each level its share of anchors sorted by area, the finest level the smallest.
void set_sorted_anchors(Detector& detector, const std::vector<data::Size>& anchors) {
  const auto& strides = detector.strides();
  std::vector<std::int64_t> levels(strides.size());
  std::iota(levels.begin(), levels.end(), 0);
  std::sort(levels.begin(), levels.end(),
            [&](auto a, auto b) { return strides[std::size_t(a)] < strides[std::size_t(b)]; });
  auto pixels = torch::empty(detector.anchors().sizes());
  const std::size_t per_level = anchors.size() / levels.size();
  for (std::size_t i = 0; i < anchors.size(); ++i) {
    auto place = pixels[levels[i / per_level]][static_cast<std::int64_t>(i % per_level)];
    place[0] = anchors[i].w;
    place[1] = anchors[i].h;
  }
  detector.set_anchors(pixels);
}

void fit_anchors(Detector& detector, double thr, PreparedData& data,
                 const std::function<void()>& beat, const data::Note& note) {
  auto config = detector.config();
  const data::AnchorChoice& choice = data.fit_anchors(anchors_in_pixels(config), thr, beat);
  if (choice.replaced) set_sorted_anchors(detector, choice.anchors);
  note(fmt::format("anchors: {}, best possible recall {:.4f}",
                   choice.replaced ? "fitted to the labels" : "kept",
                   choice.fit.best_possible_recall));
}

}  // namespace

void check_hyperparameters(const hyp::Hyperparameters& hyp) {
  for (const hyp::Gene& gene : hyp::default_space().genes) {
    if (gene.name != "anchors") hyp.number(gene.name);
  }
  for (const auto& [name, value] : hyp) {
    if (!is_known(name)) {
      throw bad_argument("hyperparameter " + name + " is unknown to the built-in trainer",
                         "keep to YOLOv5's names, or use an external trainer");
    }
    if (const auto fault = fault_of(name, value))
      throw bad_argument("hyperparameter " + name + " is " + hyp::text_of(value), *fault);
  }
}

std::optional<Checkpoint> pretrained_weights(const TrainOptions& options) {
  if (options.weights.empty()) return {};
  return read_checkpoint(options.weights);
}

ModelConfig model_config(const TrainOptions& options, const hyp::Hyperparameters& hyp,
                         const std::optional<Checkpoint>& weights, std::optional<int> nc) {
  const auto anchors = anchors_asked_for(options, hyp);
  if (!options.cfg.empty()) return resolve(read_model_table(options.cfg), nc, anchors);
  if (weights) return config_of(*weights, options.weights, nc, anchors);
  throw bad_argument("there is no --cfg", "name a model table, for instance yolov5s.yaml");
}

void check_batches(const TrainOptions& options, const PreparedData& data, const Ranks& ranks) {
  const auto refuse = [&](const std::string& what) {
    return bad_argument(fmt::format("{} for {} devices that train together", what, ranks.count()),
                        "each needs one of a batch: take fewer devices");
  };
  const auto images = data.training().images.size();
  if (options.batch_size < ranks.count())
    throw refuse(fmt::format("--batch-size {}", options.batch_size));
  if (images < static_cast<std::size_t>(ranks.count()))
    throw refuse(core::counted(static_cast<std::int64_t>(images), "training image"));
}

void freeze(Detector& detector, const std::vector<int>& layers) {
  for (auto& item : detector.named_parameters()) {
    // "model.3.cv1.conv.weight"
    if (is_frozen(layers, std::stoi(item.key().substr(6)))) item.value().set_requires_grad(false);
  }
}

std::unique_ptr<Detector> make_detector(const TrainOptions& options,
                                        const hyp::Hyperparameters& hyp,
                                        const std::optional<Checkpoint>& weights,
                                        std::uint64_t seed, PreparedData& data,
                                        const std::function<void()>& beat, const data::Note& note) {
  auto detector =
      std::make_unique<Detector>(model_config(options, hyp, weights, data.classes()), seed);
  if (weights) {
    // YOLOv5's rule: anchors of a table or of a hyperparameter beat those of the weights.
    const bool keep_anchors = !options.cfg.empty() || anchors_asked_for(options, hyp);
    const auto done = transfer(weights->state, *detector, keep_anchors, options.weights);
    note(fmt::format("Transferred {}/{} items from {}", done.transferred, done.total,
                     options.weights));
  }
  if (!options.noautoanchor) fit_anchors(*detector, hyp.number("anchor_t"), data, beat, note);
  freeze(*detector, options.freeze);
  return detector;
}

}  // namespace evolve::trainer

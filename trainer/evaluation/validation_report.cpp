#include "trainer/evaluation/validation_report.hpp"

#include <torch/torch.h>

#include <filesystem>

#include "trainer/data/image_grid.hpp"
#include "trainer/device/load.hpp"

namespace evolve::trainer {
namespace {

namespace fs = std::filesystem;

/// What is found in each image of a batch, in its own pixels.
std::vector<std::vector<data::DrawnBox>> found_in(Detector& detector, const data::Batch& batch,
                                                  const ValidateOptions& options) {
  const torch::NoGradGuard no_grad;
  auto nms = options.nms;
  nms.conf = 0.25;
  const auto boxes =
      detector.decode(detector.forward(images_of(batch, detector.anchors().device()), options.beat))
          .to(torch::kCPU, torch::kFloat)
          .contiguous();
  std::vector<std::vector<data::DrawnBox>> found;
  for (int i = 0; i < batch.size; ++i) {
    const auto rows = boxes[i];
    auto& drawn = found.emplace_back();
    for (const auto& [box, conf, cls] :
         non_max_suppression({rows.data_ptr<float>(), static_cast<std::size_t>(rows.numel())},
                             static_cast<int>(rows.size(1)) - 5, nms)) {
      drawn.push_back({.cls = options.single_cls ? 0 : cls,
                       .conf = conf,
                       .x1 = box.x1,
                       .y1 = box.y1,
                       .x2 = box.x2,
                       .y2 = box.y2});
    }
  }
  return found;
}

}  // namespace

workers::ValidationReport validation_report(Detector& detector, const data::ValidationSet& images,
                                            const ValidateOptions& options,
                                            const std::string& dir) {
  detector.fuse();
  const auto result = validate(detector, images, nullptr, options);
  workers::ValidationReport report{.metrics = result.metrics, .images = result.images};
  const auto& names = images.dataset.names;
  for (const ClassScore& score : result.classes) {
    report.labels += score.labels;
    report.classes.push_back({.name = names[static_cast<std::size_t>(score.cls)],
                              .labels = score.labels,
                              .precision = score.precision,
                              .recall = score.recall,
                              .map50 = score.ap50(),
                              .map50_95 = score.ap50_95()});
  }
  report.inference_ms = 1000 * result.inference_seconds / std::max(result.images, 1);
  report.nms_ms = 1000 * result.nms_seconds / std::max(result.images, 1);
  if (!dir.empty() && !images.batches.empty()) {
    const auto batch = data::validation_batch(images.dataset, images.batches.front());
    data::draw_batch(batch, data::labels_of(batch), names, fs::path(dir) / "val_batch0_labels.jpg");
    data::draw_batch(batch, found_in(detector, batch, options), names,
                     fs::path(dir) / "val_batch0_pred.jpg");
  }
  return report;
}

}  // namespace evolve::trainer

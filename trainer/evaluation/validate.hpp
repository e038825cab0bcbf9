// Validation: how good a detector is on images that it was not trained on.
#pragma once

#include <functional>
#include <vector>

#include "hyp/metrics.hpp"
#include "trainer/data/batch.hpp"
#include "trainer/evaluation/average_precision.hpp"
#include "trainer/evaluation/nms.hpp"
#include "trainer/loss/loss.hpp"
#include "trainer/model/detector.hpp"

namespace evolve::trainer {

struct ValidateOptions {
  /// YOLOv5's validation is agnostic with `single_cls`, and only then.
  NmsOptions nms;
  /// Every detection counts as class 0; the labels are of class 0 already.
  bool single_cls = false;
  /// The images of each batch where they lie on the device: [batch, 3, height, width] of uint8.
  /// Empty: they travel there batch by batch.
  std::vector<torch::Tensor> stored = {};
  /// In what the maps are computed (forward_in()).
  torch::ScalarType precision = torch::kFloat;
  /// Threads that make batches beside the forward passes.
  int workers = 0;
  /// Called after each layer and each batch.
  std::function<void()> beat = [] {};
};

struct Validation {
  /// Precision, recall and AP are means over the classes that have labels; losses are means over
  /// the batches, 0 without a `Loss`.
  hyp::Metrics metrics;
  /// Classes that have labels, ascending.
  std::vector<ClassScore> classes;
  /// The number of detections that were judged, at most max_det per image.
  int detections = 0;
  int images = 0;
  /// Spent on forward passes and decoding, on NMS and matching, and on the AP of all classes.
  double inference_seconds = 0, nms_seconds = 0, ap_seconds = 0;
};

/// Evaluates `detector` in eval mode, without gradients, on its own device; its mode is restored.
/// `loss` may be null.
///
/// Matches YOLOv5's val.py as train.py calls it: boxes go back to the original image and are
/// clipped to it before they are matched with the labels there; the loss is that of the same
/// forward pass. All images take part in one ranking per class.
Validation validate(Detector& detector, const data::ValidationSet& images, const Loss* loss,
                    const ValidateOptions& options);

}  // namespace evolve::trainer

// Non-maximum suppression: from a detector's thousands of overlapping boxes to its answer.
#pragma once

#include <span>
#include <vector>

#include "trainer/evaluation/detection.hpp"

namespace evolve::trainer {

/// Defaults are those of YOLOv5's validation.
struct NmsOptions {
  /// Objectness, and objectness times class probability, must be greater than this.
  double conf = 0.001;
  /// A box goes when its IoU with a more confident one of its class is greater than this.
  double iou = 0.6;
  /// Whether one box may stand for several classes; of no effect with one class.
  bool multi_label = true;
  /// Whether boxes of different classes suppress each other.
  bool agnostic = false;
  /// At most so many boxes per image.
  int max_det = 300;
};

/// The boxes that survive in one image, the most confident first, equal confidence in the order
/// of `predictions`. `predictions`: [rows, 5 + nc], each row x, y, w, h in pixels (centre and
/// size), objectness and class probabilities after the sigmoid. A NaN is never a detection.
///
/// Matches YOLOv5's non_max_suppression() with torchvision's nms(), rounding and the order of
/// equally confident boxes included: only the 30000 most confident candidates take part, and
/// classes are kept apart by moving class c's boxes by c * 7680 pixels. There is no time limit, so
/// the result never depends on the machine.
std::vector<Detection> non_max_suppression(std::span<const float> predictions, int nc,
                                           const NmsOptions& options);

}  // namespace evolve::trainer

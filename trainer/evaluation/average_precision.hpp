// How good detections are: matching them with labels, precision, recall, average precision.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "trainer/evaluation/detection.hpp"

namespace evolve::trainer {

/// At these IoUs a detection is judged: 0.5, 0.55 … 0.95, in single precision as YOLOv5 has them.
inline constexpr std::array<float, 10> iou_thresholds = {0.5f,  0.55f, 0.6f,  0.65f, 0.7f,
                                                         0.75f, 0.8f,  0.85f, 0.9f,  0.95f};

/// Bit i is set when a detection is right at iou_thresholds[i].
using Hits = std::uint16_t;

/// Which detections find a label, as many as `detections`. Those must be ordered by descending
/// confidence. At each threshold a detection claims the label of its class with which it overlaps
/// most, and a label goes to the first detection that claims it; the others are wrong, even where a
/// second label would do. Matches YOLOv5's process_batch().
std::vector<Hits> match(std::span<const Detection> detections, std::span<const GroundTruth> labels);

/// A detection after matching.
struct Judged {
  double conf = 0;
  int cls = 0;
  Hits hits = 0;
};

/// What is said of one class. Precision, recall and F1 are those at the one confidence where the
/// mean F1 of all classes, smoothed over a tenth of the range, is greatest.
struct ClassScore {
  int cls = 0;
  int labels = 0;
  double precision = 0, recall = 0, f1 = 0;
  /// At each IoU threshold.
  std::array<double, iou_thresholds.size()> ap{};

  double ap50() const { return ap.front(); }
  double ap50_95() const;
};

/// One score per class that has labels, in ascending order. `labels_per_class`: number of labels of
/// each class. Detections may come in any order; among equal confidences that order matters, as in
/// NumPy's argsort. Matches YOLOv5's ap_per_class() and its 101-point compute_ap().
std::vector<ClassScore> score_classes(std::span<const Judged> detections,
                                      std::span<const int> labels_per_class);

}  // namespace evolve::trainer

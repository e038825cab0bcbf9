// The results.csv that another program's training leaves.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "hyp/metrics.hpp"

namespace evolve::workers {

/// The epochs of a training.
struct EpochTable {
  /// The file's names of the seven metrics, in our order: YOLOv5's ("metrics/mAP_0.5") or
  /// Ultralytics' ("metrics/mAP50(B)", "metrics/mAP50(B) and metrics/mAP50(M)" of a segmenter,
  /// whose mean it is, and "val/dfl_loss" or "val/l1_loss" for obj_loss). "" where there is none
  /// and the metric is 0: of a classifier, whose metrics are its accuracies.
  std::array<std::string, hyp::Metrics::count> columns;
  /// NaN is a value.
  std::vector<hyp::Metrics> epochs;
};

/// Reads a results.csv whose columns are YOLOv5's or Ultralytics', with or without blanks around
/// the cells, among any others. `path` is what errors say. Throws `Error` with the line for an
/// absent column, a row with too few or too many cells, or a metric that is not a number.
EpochTable parse_results_csv(std::string_view text, const std::string& path);

}  // namespace evolve::workers

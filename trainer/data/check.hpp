// The check of a whole data set before anything trains.
#pragma once

#include <string>
#include <vector>

#include "trainer/data/data_yaml.hpp"

namespace evolve::data {

/// What is counted in a split.
struct DatasetStats {
  int images = 0;
  /// Images without any label: background.
  int without_labels = 0;
  int labels = 0;
  /// Rows that label files have twice, and that are left out.
  int duplicates = 0;
  /// Labels per class.
  std::vector<int> per_class;
};

/// Reads every label, and each image's header and end, without decoding, on every thread that this
/// process may use. Throws `Error` that names the first file in order (and its line) with a bad
/// label, an image that is unreadable, truncated or smaller than 10 pixels, and for a training
/// split without any label.
DatasetStats check(const DataConfig& config, Split split, bool single_cls = false);

/// What the user may want to know, one line each: how many images and labels, backgrounds, empty
/// classes.
std::vector<std::string> notes(const DatasetStats& stats, const DataConfig& config, Split split);

}  // namespace evolve::data

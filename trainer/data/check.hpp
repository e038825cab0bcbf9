// The check of a whole data set before anything trains.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "trainer/data/data_yaml.hpp"
#include "trainer/data/scan.hpp"

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
  /// See image_checksum.
  std::uint32_t checksum = 0;
  /// A line for each image that training cannot use. One line for all whose labels are of classes
  /// that the data set does not name. They are not counted above.
  std::vector<std::string> faults;
};

/// Reads every label, and each image's header and end (or decodes it), on every thread that this
/// process may use; what was looked at earlier and has not changed is remembered (scan.hpp). A bad
/// label (with its line), an image that is unreadable, truncated or smaller than 10 pixels are
/// `faults`, in the order of the images.
DatasetStats check(const DataConfig& config, Split split, const ScanOptions& options = {});

/// Throws `Error` for a split without any label: nothing is learnt from it, and every metric of it
/// is 0.
void check_labels(const DatasetStats& stats, const DataConfig& config, Split split);

/// What goes on without images at fault: this run, another one because this one began with them, or
/// none, because a split would have no image.
enum class Without { this_run, another_run, no_image };

/// The first ten of these faults, as an input `Error` of as many lines, how many more there are,
/// and what to do.
Error bad_images(std::vector<std::string> faults, Without without = Without::this_run);

/// What the user may want to know, one line each: how many images and labels, backgrounds, empty
/// classes, and which images are left out for their faults.
std::vector<std::string> notes(const DatasetStats& stats, const DataConfig& config, Split split);

}  // namespace evolve::data

// results.csv: YOLOv5's table of a training's epochs.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "hyp/metrics.hpp"

namespace evolve::results {

struct EpochRow {
  /// From 0, as YOLOv5 counts here.
  int epoch = 0;
  /// Means over the training images: box, obj, cls.
  std::array<double, 3> losses{};
  /// Of the validation.
  hyp::Metrics metrics;
  /// Of the three groups of weights: biases, weights that decay, batch norm weights.
  std::array<double, 3> learning_rates{};

  bool operator==(const EpochRow&) const = default;
};

/// Whether a table with these columns is one of epochs: YOLOv5 with its package has more of them, a
/// metric for each class, behind these.
bool is_training_header(const std::vector<std::string>& names);

/// Appends a row, after the header where the file is new or empty; numbers in their shortest exact
/// form. Throws `Error` (`Fault::run`) when the disk is full.
void append_epoch(const std::filesystem::path& file, const EpochRow& row);

/// Replaces the file by these rows, atomically. Throws as `append_epoch` does.
void write_epochs(const std::filesystem::path& file, const std::vector<EpochRow>& rows);

/// Reads a results.csv, YOLOv5's or ours. NaN is a value. Throws `Error` with file and line for
/// another header, a row with too few or too many columns, or a cell that is not a number.
std::vector<EpochRow> read_epochs(const std::filesystem::path& file);

}  // namespace evolve::results

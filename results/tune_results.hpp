// What Ultralytics' tuner (`yolo tune`, model.tune()) leaves of its trainings.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "results/run_settings.hpp"

namespace evolve::results {

/// The trainings in a tune_results.ndjson (8.4), lines of JSON, or a tune_results.csv (before),
/// whose first column is the fitness; nothing where a file is neither. Each has the tuner's own
/// fitness, in lines of JSON NaN where it is no number or a data set's training failed. Throws
/// `Error` with file and line for a line without hyperparameters and fitness, or one with a cell
/// that is not a number, and when it cannot be read.
std::optional<std::vector<EarlierTrial>> read_tune_results(const std::filesystem::path& file);

}  // namespace evolve::results

// What Ultralytics' tuner (`yolo tune`, model.tune()) leaves of its trainings.
#pragma once

#include <filesystem>
#include <vector>

#include "hyp/space.hpp"
#include "results/run_settings.hpp"

namespace evolve::results {

/// Whether a file is tune_results.ndjson (8.4), lines of JSON, or tune_results.csv (before), whose
/// first column is the fitness. Throws `Error` when it cannot be read.
bool is_tune_results(const std::filesystem::path& file);

/// All its trainings, each with the tuner's own fitness: 0 for one that failed.
/// Throws `Error` with file and line for a line without hyperparameters and fitness, or one with a
/// cell that is not a number.
std::vector<EarlierTrial> read_tune_results(const std::filesystem::path& file);

}  // namespace evolve::results

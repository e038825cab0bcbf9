// The plot of one training.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "results/training_csv.hpp"

namespace evolve::results {

/// Draws the epochs as `image` (.png or .svg), as YOLOv5's results.png: a panel for each training
/// loss, validation loss and metric against the epoch, its points and a smoothed line, and the best
/// epoch (the last of greatest 0.1*mAP50 + 0.9*mAP50_95, as best.pt) marked with a plus. Values
/// that are not finite are left out. Throws `Error` when there is no epoch, for another file
/// ending, and as `run_gnuplot` does.
void plot_training(const std::vector<EpochRow>& epochs, const std::filesystem::path& image);

/// The gnuplot script of that plot, for a terminal "png" or "svg".
std::string training_script(const std::vector<EpochRow>& epochs, const std::string& terminal);

}  // namespace evolve::results

// The plot of an evolution.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "hyp/fitness.hpp"
#include "hyp/space.hpp"
#include "results/evolve_csv.hpp"

namespace evolve::results {

/// A row's set trained again: what that gave.
struct RepeatMark {
  std::size_t row = 0;
  double fitness = 0;
};

/// What a run knows of its trials beyond their rows.
struct PlotMarks {
  /// Trials with what they had when they were paused.
  std::vector<Row> paused = {};
  /// The repeats.
  std::vector<RepeatMark> repeats = {};
  /// The row of the recommended set; nothing: the first of highest fitness is marked.
  std::optional<std::size_t> recommended = {};
};

/// Draws `table` as `image` (.png or .svg). On top the fitness of every trial, a cross for each
/// repeat of it, and the highest so far; below, as YOLOv5's plot_evolve, a panel for each
/// hyperparameter that moved: value on x, fitness on y, points coloured by density, the recommended
/// set marked with a plus and named in the title. `space` tells which axes are logarithmic and what
/// the choices are called; names that it lacks are plain numbers. Rows without a finite fitness,
/// and cells that are not finite, are left out. Paused trials become grey rings in the panels, as
/// far as the fitness of the others reaches. Throws `Error` when no row has a finite fitness, for
/// another file ending, and as `run_gnuplot` does.
void plot_evolution(const Table& table, const hyp::Fitness& fitness, const hyp::Space& space,
                    const std::filesystem::path& image, const PlotMarks& marks = {});

/// The gnuplot script of that plot, for a terminal "png" or "svg".
std::string plot_script(const Table& table, const hyp::Fitness& fitness, const hyp::Space& space,
                        const std::string& terminal, const PlotMarks& marks = {});

}  // namespace evolve::results

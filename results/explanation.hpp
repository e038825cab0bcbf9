// Which genes mattered in a run, as far as its trials tell.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "hyp/space.hpp"

namespace evolve::results {

/// What the trials of a run tell about one gene.
struct GeneExplanation {
  hyp::Gene gene;
  /// Shares, in [0, 1], of the variation of fitness over the space of all genes that varied: what
  /// the gene explains by itself, and together with its part in every interaction.
  double alone = 0;
  double total = 0;
  /// Fitness to lose, on average, when the gene takes any value of its range and the others are
  /// those of the best set. Below 0 where the best set is worse than most others on that line.
  double loss = 0;
  /// The gene's value in each completed trial.
  std::vector<double> values = {};
  /// The fitness to expect when this gene alone leaves the best set, and one standard deviation to
  /// either side: at each of some values, ascending; of whole ones at all (or some) of them.
  struct Expectation {
    double value, low, mean, high;
  };
  std::vector<Expectation> expected = {};
};

/// What the trials of a run tell about its genes.
struct Explanation {
  /// The most important (greatest `total`) first.
  std::vector<GeneExplanation> genes;
  /// Genes that had one value in all trials, of which nothing is known, and that value.
  std::vector<std::pair<hyp::Gene, double>> unvaried;
  /// Of each completed trial.
  std::vector<double> fitness;
  /// Position of the highest in `fitness`: the best trial.
  std::size_t best = 0;
  /// How much of the variation over the whole space the model is sure of, in [0, 1]; the rest is
  /// its own uncertainty.
  double known = 0;
  /// R² of what the model predicts of each trial from all the others.
  double r2 = 0;
};

/// How far the figures are to be trusted, by the R² and by what is known; "" where they are. Trials
/// that pin down next to nothing lie along a path: which of the genes that changed along it
/// matters is a guess.
std::string verdict(const Explanation& explanation);

}  // namespace evolve::results

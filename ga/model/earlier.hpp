// Earlier runs as knowledge about this one: what their models say of a set.
//
// Each earlier run has a model of its own, and what it expects of a set is one more thing that is
// known of the set: this run's model adds up these expectations, with weights that it learns from
// its own outcomes (ga/model/basis.hpp). The idea of ensembles of runs' models: Feurer, Letham and
// Bakshy 2018 ("Scalable meta-learning for Bayesian optimization using ranking-weighted Gaussian
// process ensembles").
#pragma once

#include <Eigen/Core>
#include <optional>
#include <span>
#include <vector>

#include "ga/model/surrogate.hpp"
#include "hyp/space.hpp"

namespace evolve::ga {

/// A set that an earlier run trained. Nothing: that failed.
struct EarlierTrial {
  hyp::Genes genes;
  std::optional<double> fitness = {};
};
using EarlierRun = std::vector<EarlierTrial>;

class EarlierRuns {
 public:
  EarlierRuns() = default;
  /// `space`: the evolved genes. Runs in which nothing completed are left out.
  EarlierRuns(std::span<const hyp::Gene> space, std::span<const EarlierRun> runs);

  /// Number of runs; 0: nothing is known.
  Eigen::Index count() const { return static_cast<Eigen::Index>(models_.size()); }
  /// What each run expects of sets, in units of its own spread around its own mean: [runs, m]. Of
  /// what was alike in all its sets it knows nothing: there it expects the same of every set.
  Eigen::MatrixXd expected(const Eigen::MatrixXd& features) const;
  /// How what each run expects changes with each feature of one set: [features, runs].
  Eigen::MatrixXd slopes(const Eigen::VectorXd& features) const;

  /// The sets to begin with while this run has few outcomes: each is the one that together with the
  /// start and those before it gives most in the mean over all runs, each run taking the best for
  /// itself (a greedy portfolio: Feurer et al. 2022, "Auto-sklearn 2.0", section 3.2).
  const std::vector<hyp::Genes>& portfolio() const { return portfolio_; }

 private:
  /// One run's.
  struct Model {
    Surrogate surrogate;
    /// For each feature the value that all its sets have; NaN where they differ.
    Eigen::VectorXd alike;
  };
  static Model model_of(const std::vector<hyp::Gene>& genes, const EarlierRun& run);

  std::vector<Model> models_;
  std::vector<hyp::Genes> portfolio_;
};

}  // namespace evolve::ga

// What the screened search knows.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "ga/observation.hpp"
#include "ga/surrogate.hpp"
#include "ga/unit_cube.hpp"
#include "hyp/space.hpp"

namespace evolve::ga {

/// Outcomes that the model of a proposal has at most: 1000 would take it more than 50 ms.
constexpr Eigen::Index model_points = 500;

/// The outcomes that a run knows, in the order in which it came to know them, and the kernel's
/// parameters that were fitted to them.
///
/// The parameters are fitted when the history has reached certain lengths, each time to the first
/// so many outcomes and from the fit before: they depend on the outcomes alone, never on when a
/// child was asked for.
class History {
 public:
  /// `space`: the evolved genes.
  explicit History(std::vector<hyp::Gene> space);

  void add(const hyp::Genes& genes, const Observation& observation);

  Eigen::Index size() const { return static_cast<Eigen::Index>(observation_.size()); }
  /// Number of completed trials.
  int completed() const { return completed_; }

  /// What a model of `most` points is made of.
  struct Selection {
    Points points;
    Observations observations;
    /// Between fitness and the observed values.
    OutputWarping warping;
  };
  /// Of the first `length` outcomes (not 0) the `most` that tell most about where the best set is,
  /// in that order: the best one, the two nearest to it, in units of the length scales, the next
  /// best one, the next two nearest, and so on.
  Selection select(Eigen::Index length, Eigen::Index most,
                   const KernelParameters& parameters) const;

  /// The parameters for the whole history; fits what has not been fitted yet.
  const KernelParameters& parameters();

 private:
  Eigen::VectorXd distances_from(Eigen::Index centre, Eigen::Index length,
                                 const KernelParameters& parameters) const;

  std::vector<hyp::Gene> space_;
  std::vector<int> gene_of_;
  std::vector<Eigen::VectorXd> points_, features_;
  std::vector<Observation> observation_;
  int completed_ = 0;
  KernelParameters parameters_;
  Eigen::Index next_fit_ = 3;  // the length at which the parameters are fitted next
};

}  // namespace evolve::ga

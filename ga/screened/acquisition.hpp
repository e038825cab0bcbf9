// What a child promises: a point of the unit cube judged by the model.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <span>
#include <vector>

#include "ga/model/expected_improvement.hpp"
#include "ga/model/surrogate.hpp"
#include "ga/model/unit_cube.hpp"
#include "hyp/space.hpp"

namespace evolve::ga {

/// What children are judged by; the greatest is the best. Refers to the space and the surrogate
/// that it was made with.
class Acquisition {
 public:
  /// log of the expected improvement over the best set that the surrogate was told of.
  static Acquisition improvement(std::span<const hyp::Gene> space, const Surrogate& surrogate);
  /// The mean alone.
  static Acquisition expectation(std::span<const hyp::Gene> space, const Surrogate& surrogate);
  /// The mean and `deviations` standard deviations.
  static Acquisition upper_bound(std::span<const hyp::Gene> space, const Surrogate& surrogate,
                                 double deviations);

  /// The acquisition of each point: [points].
  Eigen::VectorXd operator()(const Points& points) const;
  /// The acquisition of points with this prediction: [points].
  Eigen::VectorXd of(const Surrogate::Prediction& prediction) const;
  /// The acquisition of one point. `slope` becomes how it changes with each number: [genes], 0 for
  /// a categorical gene.
  double at(const Eigen::VectorXd& point, Eigen::VectorXd& slope) const;

  /// The best point that L-BFGS finds from `start` in that many evaluations, inside the cube.
  /// Categorical genes stay as they are; integer genes move as if they were real. Never worse than
  /// `start`.
  Eigen::VectorXd maximised(const Eigen::VectorXd& start, int evaluations) const;

 private:
  using Judge = std::function<Utility(double mean, double sd)>;
  Acquisition(std::span<const hyp::Gene> space, const Surrogate& surrogate, Judge judge);

  std::span<const hyp::Gene> space_;
  std::vector<int> gene_of_;
  const Surrogate* surrogate_;
  Judge judge_;  // empty: by the mean alone
};

}  // namespace evolve::ga

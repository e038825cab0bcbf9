// What is expected of a set before this run's own outcomes say more: what the models of earlier
// runs say, or without any, that a set is the worse the farther it is from the start.
//
// Each is a function of the set that is added to the Gaussian process's constant mean with a weight
// that the outcomes decide ("explicit basis functions": Rasmussen and Williams 2006, section 2.7).
// One that predicts this run counts for much, one that misleads for nothing as soon as that shows,
// or against its word.
#pragma once

#include <Eigen/Core>
#include <span>

#include "ga/model/earlier.hpp"
#include "hyp/space.hpp"

namespace evolve::ga {

class Basis {
 public:
  /// `space`: the evolved genes. Refers to `earlier`.
  Basis(std::span<const hyp::Gene> space, const EarlierRuns& earlier);

  /// Number of functions: one for each earlier run, or one.
  Eigen::Index count() const { return knows_nothing() ? 1 : earlier_->count(); }
  /// The functions of sets, at [features, m]: [functions, m]. In units in which each weight is
  /// normal with a standard deviation of 1 before there is any outcome. Without earlier runs it is
  /// 0 at the start and -1 for an evenly drawn set on the average, and falls with the square of the
  /// distance. (With earlier runs nothing has been tried far away, and so nothing would be known of
  /// that weight: the farthest corner would be where most can be hoped for.)
  Eigen::MatrixXd values(const Eigen::MatrixXd& features) const;
  /// How the functions change with each feature of one set: [features, functions].
  Eigen::MatrixXd slopes(const Eigen::VectorXd& features) const;
  /// What the weights are on the average before there is any outcome: [functions].
  Eigen::VectorXd weight_means() const;

 private:
  bool knows_nothing() const { return earlier_->count() == 0; }

  const EarlierRuns* earlier_;
  double parts_;           // into so many units the earlier runs divide theirs
  Eigen::VectorXd start_;  // [features]
  double even_ = 0;        // mean square of the distance from the start, of an even draw
};

}  // namespace evolve::ga

// Learning curves in the model: what a fitness at a rung says of the one at the end.
//
// What a training has at a rung is its end less what it still gains, and gains are a random walk
// over the epochs left (a Wiener process back from the end): so the later look makes the earlier
// one worthless, and both are worthless once it has ended. The walk has three parts: one that all
// trainings have in common, one that near sets share as they share their ends (large learning rates
// get there early, say), and one of each training's own. Freeze-thaw Bayesian optimization
// (Swersky, Snoek and Adams 2014) has curves of one shape with a covariance over the sets; a walk
// assumes no shape, and where curves tell nothing its variance grows until they count for nothing.
//
// Of what tells one end from another a look has a share that is the less the earlier it is, down to
// its opposite: those that end best may start slowest. (A cheap view of a thing as a factor of it
// and a process of its own: Kennedy and O'Hagan 2000, "Predicting the output from a complex
// computer code when fast approximations are available", eq. 1.)
#pragma once

#include <Eigen/Core>
#include <vector>

namespace evolve::ga {

/// What two observations share: 1 where a number of a (of a training, a seed, a set) is one of b,
/// else 0: [a, b].
Eigen::MatrixXd equal(const std::vector<int>& a, const std::vector<int>& b);

/// What the curves of a run are like: the variances of the walk's three parts over a whole
/// training, in units of the signal variance, and what looks have of the ends.
struct CurveParameters {
  double common = 1;
  /// Of what near sets share.
  double shared = 0.1;
  double own = 0.05;
  /// With a share w of the epochs ahead a look has 1 - fading w of what is good or bad in an end.
  double fading = 0;
  bool operator==(const CurveParameters&) const = default;
};

/// Where on their curves observations were made.
struct Curves {
  /// [n], share of the epochs that lay ahead, in [0, 1). Empty: 0 for all.
  Eigen::VectorXd left = {};
  /// [n], a number that the looks at one training share.
  std::vector<int> training = {};
  CurveParameters parameters = {};

  bool any() const { return left.size() > 0 && left.maxCoeff() > 0; }
  /// The first n of them, and `ended` more trainings that have ended.
  Curves first(Eigen::Index n, Eigen::Index ended) const;
  /// Those at these places.
  Curves of(const std::vector<Eigen::Index>& places) const;
  /// What each of n observations has of what is good or bad in an end: [n], 1 of those that have
  /// ended.
  Eigen::VectorXd loadings(Eigen::Index n) const;
  /// Factor of the covariance that two ends would have: [n, n].
  Eigen::MatrixXd factor() const;
  /// What is added to the covariance: [n, n].
  Eigen::MatrixXd walk() const;
  /// 1 for two different looks at one training, which have the noise in common, else 0: [n, n].
  Eigen::MatrixXd same_noise() const;
};

}  // namespace evolve::ga

// Learning curves in the model: what a fitness at a rung says of the one at the end.
//
// What a training has at a rung is its end less what it still gains, and gains are a random walk
// over the epochs left (a Wiener process back from the end): so, where nothing fades, the later
// look makes the earlier one worthless, and all are worthless once it has ended. The walk has three
// parts: one that all trainings have in common, one that near sets share as they share their ends
// (large learning rates get there early, say), and one of each training's own. Freeze-thaw Bayesian
// optimization (Swersky, Snoek and Adams 2014) has curves of one shape with a covariance over the
// sets; a walk assumes no shape, and where curves tell nothing its variance grows until they count
// for nothing.
//
// A look need not have all of what tells one end from another: the earlier it is the less, down to
// the opposite, where those that end best start slowest. (A cheap view of a thing is a factor times
// it and a process of its own: Kennedy and O'Hagan 2000, "Predicting the output from a complex
// computer code when fast approximations are available", eq. 1.)
#pragma once

#include <Eigen/Core>
#include <vector>

namespace evolve::ga {

/// What two observations share: 1 where a number of a (of a training, a seed, a set) is one of b,
/// else 0: [a, b].
Eigen::MatrixXd equal(const std::vector<int>& a, const std::vector<int>& b);

/// The share of a training's epochs that lies ahead after this one.
inline double left_at(int epoch, int epochs) {
  return 1 - static_cast<double>(epoch) / epochs;
}

/// What the curves of a run are like: the variances of the walk's three parts over a whole
/// training, in units of the signal variance, and what looks have of the ends.
struct CurveParameters {
  /// Of what all trainings have in common.
  static constexpr double common = 1;
  /// Of what near sets share.
  double shared = 0.1;
  double own = 0.05;
  /// 0: a look has all of what is good or bad in an end; greater: the less the earlier it is.
  double fading = 0;

  /// How much of that a look has with a share `left` of the epochs ahead; below 0: the opposite.
  double loading(double left) const { return 1 - fading * left; }
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
  /// The curves of the observations at these places.
  Curves of(const std::vector<Eigen::Index>& places) const;
  /// The loading of each observation; n: how many there are, which an empty `left` does not tell.
  Eigen::VectorXd loadings(Eigen::Index n) const;
  /// Factor of the covariance that two ends would have: [n, n].
  Eigen::MatrixXd factor() const;
  /// What is added to the covariance: [n, n].
  Eigen::MatrixXd walk() const;
  /// 1 for two different looks at one training, which have the noise in common, else 0: [n, n].
  Eigen::MatrixXd same_noise() const;
};

}  // namespace evolve::ga

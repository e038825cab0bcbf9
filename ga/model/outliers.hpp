// Trainings that collapsed, or were luckier than any normal noise makes them; and sets that are
// better or worse than all their neighbours.
//
// Noise and roughness have Student's t distribution: normal, with a variance of each training's,
// and of each set's, own. (Lange, Little and Taylor 1989, "Robust statistical modeling using the t
// distribution".) Of one odd training nobody knows which of the two it is; where trainings of one
// set agree on what is odd, it is the set.
#pragma once

#include "ga/model/kernel.hpp"

namespace evolve::ga {

/// What is expected of a variance, in units of its prior one, after a residual with this square.
double odd_factor(double square);

struct Outliers {
  /// [n] each: factors of the noise variance, in place of the observations' own, and of the
  /// roughness variance.
  Eigen::VectorXd noise, roughness;
  /// A lower bound of log p(values | parameters), up to a summand that depends on n only.
  double log_likelihood = 0;
};

/// Four degrees of freedom, and a few iterations of the expectation-maximization algorithm, from
/// the observations' own noise and no odd set on. Where some have not ended no training is odd, as
/// what a curve does there is no noise, and of the sets those alone may be of which two trainings
/// have ended: one that is lucky goes on because it is. `signal`: its covariance, signal_of(known,
/// parameters).
Outliers outliers(const Observations& known, const KernelParameters& parameters,
                  const Eigen::MatrixXd& signal);
Outliers outliers(const Observations& known, const KernelParameters& parameters);

}  // namespace evolve::ga

// Parameters of the kernel and of the curves for what was observed: those of greatest posterior.
//
// All have log-normal priors. Length scales are expected to grow with the root of the number of
// genes (Hvarfner et al. 2024, "Vanilla Bayesian optimization performs great in high dimensions"),
// and noise may be anything from none to more than there is signal: where a few trainings of many
// genes are explained by short lengths and no noise, the search stays with the luckiest.
#pragma once

#include "ga/model/kernel.hpp"

namespace evolve::ga {

/// Where the prior is densest: the start of a first fit.
KernelParameters prior_mode(Eigen::Index genes);

/// -log p(values | parameters) - log p(parameters), up to a constant (R&W eq. 5.8 and the priors).
/// Writes its gradient; infinite, with a gradient of 0, where the covariance is not positive
/// definite.
double negative_log_posterior(const Observations& observations, const KernelParameters& parameters,
                              Eigen::VectorXd& gradient);

/// The parameters of greatest posterior that L-BFGS finds from `start` in that many evaluations of
/// the posterior. Never worse than `start`.
KernelParameters fit(const Observations& observations, const KernelParameters& start,
                     int evaluations);

/// What the curves are like of which `known` has looks, for these parameters: the walk of greatest
/// posterior, and of the ways in which looks can fade the one that lets them foretell the ends
/// best: by how likely the ends are, given the looks. (How likely the looks are has more to do with
/// how curves wind.) That they speak against the ends takes evidence: few curves do.
CurveParameters fitted_curves(const Observations& known, const KernelParameters& parameters);

}  // namespace evolve::ga

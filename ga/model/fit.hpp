// Parameters of the kernel, and of the curves, for what was observed.
//
// The kernel's are those of greatest posterior, and have log-normal priors. Length scales are
// expected to grow with the root of the number of genes (Hvarfner et al. 2024, "Vanilla Bayesian
// optimization performs great in high dimensions"), and noise may be anything from none to more
// than there is signal (the mean is a constant at its best value here, whatever the model adds to
// it): where a few trainings of many genes are explained by short lengths and no
// noise, the search stays with the luckiest.
#pragma once

#include <vector>

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

/// From the best fit so far, or after few outcomes from the prior's mode where that leads to a
/// better one: with few the likelihood has several tops. In some 20 ms.
KernelParameters fitted(const Observations& known, const KernelParameters& before,
                        Eigen::Index outcomes);

struct Variation {
  KernelParameters parameters;
  double log_prior = 0;
};

/// All kinds of luck, from next to none to as much as there is signal, on a grid of logarithms of
/// variances. As many genes as trainings can take all luck for signal, so much luck is expected, as
/// short trainings have it, until trainings of the same set and of near ones say otherwise. The
/// fitted lengths are those that explain most of what was seen, luck included: so they are too
/// short, once there are outcomes enough that the prior does not decide them. (They count as they
/// are, too, where they leave hardly any luck.) Those of the same lengths follow one another.
std::vector<Variation> variations(const KernelParameters& best, Eigen::Index outcomes);

/// How the curves in `known`, which has looks, behave under these kernel parameters: for each
/// fading the walk of greatest posterior, and of these the one under which the ends are most
/// likely, given the looks. (How likely the looks are says more about the shape of curves, and what
/// a look is for is to foretell an end.) A fading other than 0 must make the ends e^4 times as
/// likely: few curves speak against their ends.
CurveParameters fitted_curves(const Observations& known, const KernelParameters& parameters);

}  // namespace evolve::ga

#include "ga/model/fit.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "ga/model/minimise.hpp"
#include "ga/model/surrogate.hpp"

namespace evolve::ga {
namespace {

using Eigen::ArrayXXd;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double least_noise = 1e-6;
// The logarithm is normal.
struct LogPrior {
  double mean, sd;

  // Up to a constant, of the logarithm `x`.
  double minus_log(double x) const { return 0.5 * std::pow((x - mean) / sd, 2); }
};
constexpr std::array<LogPrior, 3> variance_priors = {{{-2.5, 2}, {-6, 1.5}, {-6, 1.5}}};
// Of the variances of a learning curve's walk.
constexpr LogPrior shared_prior{-2, 1.5}, own_prior{-3, 2};

// Of a length scale.
LogPrior length_prior(Index genes) {
  return {.mean = std::log(std::sqrt(static_cast<double>(genes)) / 4), .sd = 1.15};
}

// R&W eq. 5.9: tr((K^-1 - weights weights^T) dK) / 2 for every parameter. `inverse` is that
// difference, `points` are in units of the length scales, [features, n].
void add_likelihood_gradient(const Observations& o, const MatrixXd& points, const ArrayXXd& decline,
                             const Covariance& covariance, const Variances& variances,
                             const MatrixXd& inverse, VectorXd& gradient) {
  const Index genes = gradient.size() - 3;
  ArrayXXd by_signal = 1 + 0.5 * variances.seed * covariance.same_seed.array();
  gradient[genes] = 0.5 * variances.noise * inverse.diagonal().dot(noise_factors(o));
  if (o.curves.any()) {
    by_signal += covariance.factor.array() - 1;
    gradient[genes] += 0.5 * variances.noise * inverse.cwiseProduct(covariance.same_noise).sum();
  }
  gradient[genes + 1] = 0.5 * variances.seed * inverse.cwiseProduct(covariance.of_seeds).sum();
  gradient[genes + 2] = 0.5 * variances.roughness * inverse.cwiseProduct(covariance.same_set).sum();
  const MatrixXd weighted = (inverse.array() * decline * by_signal).matrix();
  const VectorXd by_feature =
      points.array().square().matrix() * weighted.rowwise().sum() -
      (points.array() * (points * weighted).array()).rowwise().sum().matrix();
  for (Index i = 0; i < by_feature.size(); ++i) {
    gradient[o.gene_of[static_cast<std::size_t>(i)]] += by_feature[i];
  }
}

// Minus its logarithm, and how that changes.
void add_prior(const KernelParameters& parameters, double& value, VectorXd& gradient) {
  const Index genes = parameters.size() - 3;
  const auto add = [&](Index i, const LogPrior& prior) {
    value += prior.minus_log(parameters[i]);
    gradient[i] += (parameters[i] - prior.mean) / prior.sd / prior.sd;
  };
  for (Index i = 0; i < genes; ++i) add(i, length_prior(genes));
  for (Index i = 0; i < 3; ++i) add(genes + i, variance_priors[static_cast<std::size_t>(i)]);
}

// What was seen before the end.
Observations looks_of(const Observations& all) {
  std::vector<Index> places;
  for (Index i = 0; i < all.values.size(); ++i) {
    if (all.curves.left[i] > 0) places.push_back(i);
  }
  return all.of(places);
}

// This many evaluations of the posterior take about 20 ms.
int affordable_evaluations(Index observations, Index features) {
  const auto n = static_cast<double>(observations), f = static_cast<double>(features);
  const double operations = n * n * (2.5 * n + 2 * f + 40);
  return static_cast<int>(std::clamp(4e7 / operations, 5.0, 200.0));
}

struct Walk {
  CurveParameters parameters;
  double log_likelihood = 0;
};

// The walk of greatest posterior on a grid of logarithms, where looks fade so; the priors are wide.
// With the greatest variances a look tells next to nothing of the end: looks may count for nothing.
Walk fitted_walk(Observations known, const KernelParameters& parameters, double fading) {
  constexpr std::array shared = {-4.0, -2.5, -1.0, 0.5, 2.0, 3.5};
  constexpr std::array own = {-8.0, -6.0, -4.5, -3.0, -1.5, 0.0, 1.5, 3.0};
  Walk best;
  double greatest = -std::numeric_limits<double>::infinity();
  for (const double s : shared) {
    for (const double o : own) {
      known.curves.parameters = {.shared = std::exp(s), .own = std::exp(o), .fading = fading};
      const double log_likelihood = Surrogate(known, parameters).log_likelihood();
      const double posterior =
          log_likelihood - (shared_prior.minus_log(s) + own_prior.minus_log(o));
      if (!(posterior > greatest)) continue;
      greatest = posterior;
      best = {known.curves.parameters, log_likelihood};
    }
  }
  return best;
}

}  // namespace

KernelParameters prior_mode(Index genes) {
  KernelParameters mode = VectorXd::Constant(genes + 3, length_prior(genes).mean);
  for (Index i = 0; i < 3; ++i) mode[genes + i] = variance_priors[static_cast<std::size_t>(i)].mean;
  return mode;
}

double negative_log_posterior(const Observations& o, const KernelParameters& parameters,
                              VectorXd& gradient) {
  const Index n = o.values.size(), genes = parameters.size() - 3;
  const Variances variances = variances_of(parameters);
  const MatrixXd points = inverse_lengths(o.gene_of, parameters).asDiagonal() * o.features;

  gradient = VectorXd::Zero(genes + 3);
  const ArrayXXd r = distances(points, points);
  MatrixXd signal = matern(r);
  signal.diagonal().setOnes();
  const Covariance covariance = covariance_of(signal, o.seed, o.set, o.curves, variances);
  MatrixXd noisy = covariance.all;
  noisy.diagonal() += variances.noise * noise_factors(o);
  const Eigen::LLT<MatrixXd> factor(noisy);
  if (factor.info() != Eigen::Success) return std::numeric_limits<double>::infinity();

  const MatrixXd half = inverse_factor(factor);
  MatrixXd inverse = MatrixXd::Zero(n, n);
  inverse.selfadjointView<Eigen::Lower>().rankUpdate(half.transpose());
  inverse.triangularView<Eigen::StrictlyUpper>() = inverse.transpose();
  const VectorXd sums = inverse.rowwise().sum();
  const VectorXd centred = o.values.array() - sums.dot(o.values) / sums.sum();
  const VectorXd weights = inverse * centred;
  double value = 0.5 * centred.dot(weights) + factor.matrixLLT().diagonal().array().log().sum();

  inverse.noalias() -= weights * weights.transpose();
  add_likelihood_gradient(o, points, matern_decline(r), covariance, variances, inverse, gradient);
  add_prior(parameters, value, gradient);
  return value;
}

KernelParameters fit(const Observations& observations, const KernelParameters& start,
                     int evaluations) {
  Bounds bounds{VectorXd::Constant(start.size(), std::log(0.025)),
                VectorXd::Constant(start.size(), 12)};
  bounds.low.tail<3>().setConstant(std::log(least_noise));
  bounds.high.tail<3>().setConstant(3);
  const auto scale = static_cast<double>(observations.values.size());
  const auto objective = [&](const VectorXd& parameters, VectorXd& gradient) {
    const double value = negative_log_posterior(observations, parameters, gradient);
    gradient /= scale;
    return value / scale;
  };
  return minimised(objective, start, bounds, evaluations, 1e-7);
}

KernelParameters fitted(const Observations& known, const KernelParameters& before, Index outcomes) {
  constexpr Index few = 40;
  const int evaluations = affordable_evaluations(known.values.size(), known.features.rows());
  const KernelParameters warm = fit(known, before, evaluations);
  if (outcomes > few) return warm;
  const KernelParameters cold = fit(known, prior_mode(before.size() - 3), evaluations);
  VectorXd unused;
  const bool colder =
      negative_log_posterior(known, cold, unused) < negative_log_posterior(known, warm, unused);
  return colder ? cold : warm;
}

std::vector<Variation> variations(const KernelParameters& best, Index outcomes) {
  constexpr std::array noises = {-13.0, -6.0, -4.0, -2.5, -1.0, 0.0};
  constexpr std::array seeds = {-6.0, -3.5, -1.5, 0.0};
  constexpr std::array roughnesses = {-8.0, -4.0, -2.5, -1.0};
  constexpr double few = 20, enough = 40, step = 0.6, hardly_any = -5;
  const auto n = static_cast<double>(outcomes);
  const double too_short = step * std::clamp((n - few) / (enough - few), 0.0, 1.0);
  std::vector<double> longer = {too_short, too_short + step};
  // Where they leave hardly any luck they have not explained it: longer ones would have to make it
  // of what the sets are.
  if (too_short > 0 && best[best.size() - 3] < hardly_any) longer.push_back(0);
  constexpr double least = -6, sd = 1;  // below the least they are all alike: none
  const auto log_prior = [&](double value, double mean) {
    const double z = (std::max(value, least) - mean) / sd;
    return -0.5 * z * z;
  };
  std::vector<Variation> all;
  for (const double more : longer) {
    for (const double noise : noises) {
      for (const double seed : seeds) {
        for (const double roughness : roughnesses) {
          KernelParameters parameters = best;
          parameters.array() += more;
          parameters.tail<3>() << noise, seed, roughness;
          all.push_back({parameters, log_prior(noise, -1.25) + log_prior(seed, -2.5) +
                                         log_prior(roughness, -3.5)});
        }
      }
    }
  }
  return all;
}

CurveParameters fitted_curves(const Observations& known, const KernelParameters& parameters) {
  constexpr std::array fadings = {0.0, 1.5, 2.0, 3.0};
  constexpr double log_prior_of_fading = -4;
  Observations looks = looks_of(known);
  CurveParameters best = known.curves.parameters;
  double greatest = -std::numeric_limits<double>::infinity();
  for (const double fading : fadings) {
    const Walk walk = fitted_walk(known, parameters, fading);
    looks.curves.parameters = walk.parameters;
    const double ends = walk.log_likelihood - Surrogate(looks, parameters).log_likelihood();
    const double posterior = ends + (fading > 0 ? log_prior_of_fading : 0);
    if (!(posterior > greatest)) continue;
    greatest = posterior;
    best = walk.parameters;
  }
  return best;
}

}  // namespace evolve::ga

#include "ga/model/outliers.hpp"

#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <set>
#include <utility>

#include "ga/model/conditioned.hpp"

namespace evolve::ga {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double degrees_of_freedom = 4;

// What the bound has besides the normal likelihood under the factor: the precision's distribution,
// a gamma distribution with mean 1 / factor after one residual, for the prior one with mean 1.
double cost(double factor) {
  constexpr double before = degrees_of_freedom / 2, after = (degrees_of_freedom + 1) / 2;
  using boost::math::digamma, boost::math::lgamma;
  const double log_rate = std::log(after * factor);
  const double divergence = (after - before) * digamma(after) - lgamma(after) + lgamma(before) +
                            before * (log_rate - std::log(before)) + before / factor - after;
  const double expected_log = digamma(after) - log_rate;
  return divergence - 0.5 * (expected_log + std::log(factor));
}

}  // namespace

double odd_factor(double square) {
  return (degrees_of_freedom + square) / (degrees_of_freedom + 1);
}

Outliers outliers(const Observations& known, const KernelParameters& parameters,
                  const MatrixXd& signal) {
  constexpr int iterations = 4;
  const auto none = VectorXd::Ones(known.noise.size());
  const Variances variances = variances_of(parameters);
  const Covariance usual = covariance_of(signal, known.seed, known.set, known.curves, variances);
  if (known.curves.any())
    return {
        known.noise, none,
        conditioned(usual.all, variances.noise, noise_factors(known), known.values).log_likelihood};
  VectorXd noise = known.noise, of_noise = none, of_sets = none;
  const auto under_these = [&] {
    Covariance covariance = usual;
    add_odd(covariance, variances.roughness * of_sets, variances.roughness);
    return conditioned(std::move(covariance.all), variances.noise, noise, known.values);
  };
  for (int i = 0; i < iterations; ++i) {
    const Conditioned model = under_these();
    const MatrixXd inverse = inverse_factor(model.factor);
    const VectorXd squares =
        shared_squares(model, inverse, known.set, variances.roughness * of_sets);
    of_noise = noise_squares(model, inverse).cwiseQuotient(known.noise).unaryExpr(&odd_factor);
    noise = known.noise.cwiseProduct(of_noise);
    of_sets = (squares / variances.roughness).unaryExpr(&odd_factor);
  }
  double log_likelihood = under_these().log_likelihood;
  std::set<int> sets;
  for (Index i = 0; i < of_noise.size(); ++i) {
    log_likelihood -= cost(of_noise[i]);
    if (sets.insert(known.set[static_cast<std::size_t>(i)]).second)
      log_likelihood -= cost(of_sets[i]);
  }
  return {noise, of_sets, log_likelihood};
}

Outliers outliers(const Observations& known, const KernelParameters& parameters) {
  return outliers(known, parameters, signal_of(known, parameters));
}

}  // namespace evolve::ga

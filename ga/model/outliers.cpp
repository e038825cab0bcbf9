#include "ga/model/outliers.hpp"

#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <set>

#include "ga/model/surrogate.hpp"

namespace evolve::ga {
namespace {

using Eigen::Index;
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

Outliers outliers(const Observations& known, const KernelParameters& parameters) {
  constexpr int iterations = 4;
  const auto none = VectorXd::Ones(known.noise.size());
  if (known.curves.any()) return {known.noise, none, Surrogate(known, parameters).log_likelihood()};
  Observations weighed = known;
  VectorXd of_noise = none;
  weighed.roughness = none;
  for (int i = 0; i < iterations; ++i) {
    const Surrogate model(weighed, parameters);
    of_noise = model.noise_squares().cwiseQuotient(known.noise).unaryExpr(&odd_factor);
    weighed.noise = known.noise.cwiseProduct(of_noise);
    weighed.roughness = model.roughness_squares().unaryExpr(&odd_factor);
  }
  double log_likelihood = Surrogate(weighed, parameters).log_likelihood();
  std::set<int> sets;
  for (Index i = 0; i < of_noise.size(); ++i) {
    log_likelihood -= cost(of_noise[i]);
    if (sets.insert(known.set[static_cast<std::size_t>(i)]).second)
      log_likelihood -= cost(weighed.roughness[i]);
  }
  return {weighed.noise, weighed.roughness, log_likelihood};
}

}  // namespace evolve::ga

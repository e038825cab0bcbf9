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

// The sets that may be odd.
std::set<int> odd_candidates(const Observations& known) {
  if (!known.curves.any()) return {known.set.begin(), known.set.end()};
  std::set<int> ended, again;
  for (std::size_t i = 0; i < known.set.size(); ++i)
    if (known.curves.left[static_cast<Index>(i)] == 0 && !ended.insert(known.set[i]).second)
      again.insert(known.set[i]);
  return again;
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
  const VectorXd loadings = known.curves.loadings(known.noise.size());
  const bool looks = known.curves.any();
  const auto may_be_odd = odd_candidates(known);
  VectorXd of_noise = none, of_sets = none;
  const auto under_these = [&] {
    Covariance covariance = usual;
    add_odd(covariance, variances.roughness * of_sets, variances.roughness);
    const VectorXd noise = known.noise.cwiseProduct(of_noise).cwiseProduct(loadings.cwiseAbs2());
    return conditioned(std::move(covariance.all), variances.noise, noise, known.values);
  };
  for (int i = 0; i < iterations && !(looks && may_be_odd.empty()); ++i) {
    const Conditioned model = under_these();
    const MatrixXd inverse = inverse_factor(model.factor);
    if (!looks)
      of_noise = noise_squares(model, inverse).cwiseQuotient(known.noise).unaryExpr(&odd_factor);
    const VectorXd squares =
        shared_squares(model, inverse, known.set, variances.roughness * of_sets, loadings);
    for (Index k = 0; k < squares.size(); ++k)
      if (may_be_odd.contains(known.set[static_cast<std::size_t>(k)]))
        of_sets[k] = odd_factor(squares[k] / variances.roughness);
  }
  double log_likelihood = under_these().log_likelihood;
  std::set<int> counted;
  for (Index i = 0; i < of_noise.size(); ++i) {
    const int set = known.set[static_cast<std::size_t>(i)];
    if (!looks) log_likelihood -= cost(of_noise[i]);
    if (may_be_odd.contains(set) && counted.insert(set).second) log_likelihood -= cost(of_sets[i]);
  }
  return {known.noise.cwiseProduct(of_noise), of_sets, log_likelihood};
}

Outliers outliers(const Observations& known, const KernelParameters& parameters) {
  return outliers(known, parameters, signal_of(known, parameters));
}

}  // namespace evolve::ga

#include "ga/fit.hpp"

#include <nlopt.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>

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
};
constexpr std::array<LogPrior, 3> variance_priors = {{{-2.5, 2}, {-6, 1.5}, {-6, 1.5}}};

// Of a length scale.
LogPrior length_prior(Index genes) {
  return {.mean = std::log(std::sqrt(static_cast<double>(genes)) / 4), .sd = 1.15};
}

struct Problem {
  const Observations& observations;
  KernelParameters best;
  double least;
};

double objective(unsigned n, const double* x, double* gradient, void* data) {
  auto& problem = *static_cast<Problem*>(data);
  const KernelParameters parameters = Eigen::Map<const VectorXd>(x, n);
  VectorXd slope;
  const double value = negative_log_posterior(problem.observations, parameters, slope);
  if (value < problem.least) {
    problem.least = value;
    problem.best = parameters;
  }
  const auto scale = static_cast<double>(problem.observations.values.size());
  if (gradient) Eigen::Map<VectorXd>(gradient, n) = slope / scale;
  return std::min(value / scale, 1e10);
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
  const MatrixXd a = inverse_lengths(o.gene_of, parameters).asDiagonal() * o.features;

  gradient = VectorXd::Zero(genes + 3);
  const ArrayXXd r = distances(a, a);
  const ArrayXXd slope = matern_decline(r);
  MatrixXd signal = matern(r);
  signal.diagonal().setOnes();
  const MatrixXd same_seed = equal(o.seed, o.seed), same_set = equal(o.set, o.set);
  const MatrixXd of_seeds = seed_covariance(same_seed, signal);
  MatrixXd covariance = signal, shared_noise;
  ArrayXXd by_signal = 1 + 0.5 * variances.seed * same_seed.array();
  if (o.curves.any()) {
    const MatrixXd factor = o.curves.factor();
    shared_noise = o.curves.same_noise();
    covariance = signal.cwiseProduct(factor) + o.curves.walk() + variances.noise * shared_noise;
    by_signal += factor.array() - 1;
  }
  covariance += variances.seed * of_seeds + variances.roughness * same_set;
  covariance.diagonal() += variances.noise * o.noise;
  const Eigen::LLT<MatrixXd> factor(covariance);
  if (factor.info() != Eigen::Success) return std::numeric_limits<double>::infinity();

  const MatrixXd half = factor.matrixL().solve(MatrixXd::Identity(n, n));
  MatrixXd inverse = MatrixXd::Zero(n, n);
  inverse.selfadjointView<Eigen::Lower>().rankUpdate(half.transpose());
  inverse.triangularView<Eigen::StrictlyUpper>() = inverse.transpose();
  const VectorXd sums = inverse.rowwise().sum();
  const VectorXd centred = o.values.array() - sums.dot(o.values) / sums.sum();
  const VectorXd weights = inverse * centred;
  double value =
      0.5 * centred.dot(weights) + MatrixXd(factor.matrixL()).diagonal().array().log().sum();

  // R&W eq. 5.9: tr((K^-1 - weights weights^T) dK) / 2 for every parameter.
  inverse.noalias() -= weights * weights.transpose();
  gradient[genes] = 0.5 * variances.noise * inverse.diagonal().dot(o.noise);
  if (o.curves.any())
    gradient[genes] += 0.5 * variances.noise * inverse.cwiseProduct(shared_noise).sum();
  gradient[genes + 1] = 0.5 * variances.seed * inverse.cwiseProduct(of_seeds).sum();
  gradient[genes + 2] = 0.5 * variances.roughness * inverse.cwiseProduct(same_set).sum();
  const MatrixXd weighted = (inverse.array() * slope * by_signal).matrix();
  const VectorXd by_feature = a.array().square().matrix() * weighted.rowwise().sum() -
                              (a.array() * (a * weighted).array()).rowwise().sum().matrix();
  for (Index i = 0; i < by_feature.size(); ++i) {
    gradient[o.gene_of[static_cast<std::size_t>(i)]] += by_feature[i];
  }

  const auto add_prior = [&](Index i, const LogPrior& prior) {
    const double z = (parameters[i] - prior.mean) / prior.sd;
    value += 0.5 * z * z;
    gradient[i] += z / prior.sd;
  };
  for (Index i = 0; i < genes; ++i) add_prior(i, length_prior(genes));
  for (Index i = 0; i < 3; ++i) add_prior(genes + i, variance_priors[static_cast<std::size_t>(i)]);
  return value;
}

KernelParameters fit(const Observations& observations, const KernelParameters& start,
                     int evaluations) {
  const auto count = static_cast<unsigned>(start.size());
  VectorXd low = VectorXd::Constant(start.size(), std::log(0.025));
  VectorXd high = VectorXd::Constant(start.size(), 12);
  low.tail<3>().setConstant(std::log(least_noise));
  high.tail<3>().setConstant(3);

  Problem problem{observations, start, std::numeric_limits<double>::infinity()};
  const std::unique_ptr<nlopt_opt_s, decltype(&nlopt_destroy)> optimizer(
      nlopt_create(NLOPT_LD_LBFGS, count), nlopt_destroy);
  nlopt_set_min_objective(optimizer.get(), objective, &problem);
  nlopt_set_lower_bounds(optimizer.get(), low.data());
  nlopt_set_upper_bounds(optimizer.get(), high.data());
  nlopt_set_maxeval(optimizer.get(), evaluations);
  nlopt_set_ftol_abs(optimizer.get(), 1e-7);
  VectorXd x = start.cwiseMax(low).cwiseMin(high);
  double least = 0;
  // Why it stopped does not matter (a line search that finds nothing better is an error to NLopt):
  // the objective remembers the best that it has seen.
  nlopt_optimize(optimizer.get(), x.data(), &least);
  return problem.best;
}

}  // namespace evolve::ga

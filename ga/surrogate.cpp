#include "ga/surrogate.hpp"

#include <nlopt.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <memory>
#include <utility>

#include "ga/earlier.hpp"

namespace evolve::ga {
namespace {

using Eigen::ArrayXd;
using Eigen::ArrayXXd;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double least_noise = 1e-6, least_variance = 1e-12;
// The logarithm is normal.
struct LogPrior {
  double mean, sd;
};
constexpr std::array<LogPrior, 3> variance_priors = {{{-2.5, 2}, {-6, 1.5}, {-6, 1.5}}};

// Of a length scale.
LogPrior length_prior(Index genes) {
  return {.mean = std::log(std::sqrt(static_cast<double>(genes)) / 4), .sd = 1.15};
}

VectorXd inverse_lengths(const std::vector<int>& gene_of, const KernelParameters& parameters) {
  VectorXd inverse(static_cast<Index>(gene_of.size()));
  for (Index i = 0; i < inverse.size(); ++i) {
    inverse[i] = std::exp(-parameters[gene_of[static_cast<std::size_t>(i)]]);
  }
  return inverse;
}

// sqrt(5) times the distances between the columns of a and those of b.
ArrayXXd distances(const MatrixXd& a, const MatrixXd& b) {
  MatrixXd squares = -2 * a.transpose() * b;
  squares.colwise() += a.colwise().squaredNorm().transpose();
  squares.rowwise() += b.colwise().squaredNorm();
  return (5 * squares.array().max(0)).sqrt();
}

// The covariance at those distances.
template <typename Array>
Array matern(const Array& r) {
  return (1 + r + r.square() / 3) * (-r).exp();
}

// Half of what a seed does it does to every set, half to those of a region, as the signal is.
MatrixXd seed_covariance(const MatrixXd& same_seed, const MatrixXd& signal) {
  return 0.5 * same_seed.array() * (1 + signal.array());
}

// What observations have in common: the signal, at points in units of the length scales, what their
// seeds do and what is their sets' own.
struct SharedCovariance {
  MatrixXd of_seeds, all;

  SharedCovariance(const MatrixXd& scaled, const std::vector<int>& seeds,
                   const std::vector<int>& sets, const Variances& variances, const Curves& curves) {
    all = matern(distances(scaled, scaled)).matrix();
    of_seeds = variances.seed * seed_covariance(equal(seeds, seeds), all);
    if (curves.any())
      all =
          all.cwiseProduct(curves.factor()) + curves.walk() + variances.noise * curves.same_noise();
    all += of_seeds + variances.roughness * equal(sets, sets);
  }
};

// Of one point with each column of `points`: [n]. In units of the length scales.
struct Covariances {
  const MatrixXd& points;
  const VectorXd& here;
  VectorXd values, decline;

  Covariances(const MatrixXd& points_, const VectorXd& here_) : points(points_), here(here_) {
    const ArrayXd r = (5 * (points.colwise() - here).colwise().squaredNorm().array()).sqrt();
    values = matern(r).matrix();
    decline = ((5.0 / 3) * (1 + r) * (-r).exp()).matrix();
  }
  // How their weighted sum changes with each feature: [features].
  VectorXd slope(const VectorXd& weights) const {
    const VectorXd pull = decline.cwiseProduct(weights);
    return points * pull - here * pull.sum();
  }
};

// Of `covariance`, whose diagonal lacks the noise. Many points on one spot and next to no noise can
// be too much for it: then `noise` grows.
Eigen::LLT<MatrixXd> factorised(MatrixXd covariance, const VectorXd& noises, double& noise) {
  const VectorXd noise_free = covariance.diagonal();
  for (;; noise *= 10) {
    covariance.diagonal() = noise_free + noise * noises;
    Eigen::LLT<MatrixXd> factor(covariance);
    if (factor.info() == Eigen::Success) return factor;
  }
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

Variances variances_of(const KernelParameters& parameters) {
  const Eigen::Vector3d variances = parameters.tail<3>().array().exp();
  return {.noise = variances[0], .seed = variances[1], .roughness = variances[2]};
}

double negative_log_posterior(const Observations& o, const KernelParameters& parameters,
                              VectorXd& gradient) {
  const Index n = o.values.size(), genes = parameters.size() - 3;
  const Variances variances = variances_of(parameters);
  const MatrixXd a = inverse_lengths(o.gene_of, parameters).asDiagonal() * o.features;

  gradient = VectorXd::Zero(genes + 3);
  const ArrayXXd r = distances(a, a);
  const ArrayXXd decay = (-r).exp();
  const ArrayXXd slope = (5.0 / 3) * (1 + r) * decay;
  MatrixXd signal = 0.6 * slope + decay * r.square() / 3;
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

Surrogate::Surrogate(const Observations& observations, const MatrixXd& pending,
                     const KernelParameters& parameters, Index spread_points,
                     const EarlierRuns* earlier)
    : inverse_lengths_(inverse_lengths(observations.gene_of, parameters)),
      roughness_(variances_of(parameters).roughness),
      sets_(observations.set),
      scaled_(inverse_lengths_.asDiagonal() * observations.features),
      earlier_(earlier && earlier->count() > 0 ? earlier : nullptr) {
  const Variances variances = variances_of(parameters);
  training_variance_ = variances.noise + variances.seed + variances.roughness;
  double noise = variances.noise;
  const Curves& curves = observations.curves;
  SharedCovariance shared(scaled_, observations.seed, sets_, variances, curves);
  VectorXd values = observations.values;
  if (earlier_) {
    earlier_known_ = earlier_->expected(observations.features);
    earlier_variance_ = earlier_->weight_variance();
    shared.all += earlier_variance_ * earlier_known_.transpose() * earlier_known_;
    values -= earlier_->weight_mean() * earlier_known_.colwise().sum().transpose();
  }
  factor_ = factorised(shared.all, observations.noise, noise);
  const VectorXd sums = factor_.solve(VectorXd::Ones(scaled_.cols()));
  constant_ = sums.dot(values) / sums.sum();
  const VectorXd centred = values.array() - constant_;
  weights_ = factor_.solve(centred);
  if (earlier_)
    earlier_weights_ =
        (earlier_variance_ * earlier_known_ * weights_).array() + earlier_->weight_mean();
  believed_ = observations.values - noise * observations.noise.cwiseProduct(weights_) -
              shared.of_seeds * weights_;
  if (curves.any()) believed_ = of_sets(observations.features, sets_).mean;
  log_likelihood_ = -0.5 * centred.dot(weights_) - 0.5 * std::log(sums.sum()) -
                    MatrixXd(factor_.matrixL()).diagonal().array().log().sum();

  const Index near = std::min(scaled_.cols(), spread_points);
  if (near == scaled_.cols() && pending.cols() == 0) {  // all rests on the same
    scaled_near_ = scaled_;
    factor_near_ = factor_;
    earlier_near_ = earlier_known_;
    return;
  }
  scaled_near_.resize(scaled_.rows(), near + pending.cols());
  scaled_near_ << scaled_.leftCols(near), inverse_lengths_.asDiagonal() * pending;
  VectorXd noises(scaled_near_.cols());
  noises << observations.noise.head(near), VectorXd::Ones(pending.cols());
  std::vector<int> seeds(observations.seed.begin(), observations.seed.begin() + near);
  std::vector<int> sets(sets_.begin(), sets_.begin() + near);
  for (int i = 1; i <= pending.cols(); ++i) {  // each unlike any other
    seeds.push_back(-i);
    sets.push_back(-i);
  }
  SharedCovariance shared_near(scaled_near_, seeds, sets, variances,
                               curves.first(near, pending.cols()));
  if (earlier_) {
    earlier_near_.resize(earlier_known_.rows(), scaled_near_.cols());
    earlier_near_ << earlier_known_.leftCols(near), earlier_->expected(pending);
    shared_near.all += earlier_variance_ * earlier_near_.transpose() * earlier_near_;
  }
  factor_near_ = factorised(shared_near.all, noises, noise);
}

VectorXd Surrogate::leave_one_out_errors() const {
  const Index n = weights_.size();
  const MatrixXd half = factor_.matrixL().solve(MatrixXd::Identity(n, n));
  const VectorXd sums = half.transpose() * half.rowwise().sum();  // of the inverse's rows
  const VectorXd precision =
      half.colwise().squaredNorm().transpose() - sums.cwiseAbs2() / sums.sum();
  return weights_.cwiseQuotient(precision);
}

Surrogate::Prediction Surrogate::predict(const MatrixXd& features) const {
  MatrixXd covariance = matern(distances(scaled_near_, inverse_lengths_.asDiagonal() * features));
  Eigen::RowVectorXd before = Eigen::RowVectorXd::Ones(features.cols());
  if (earlier_) {
    const MatrixXd expected = earlier_->expected(features);
    covariance += earlier_variance_ * earlier_near_.transpose() * expected;
    before += earlier_variance_ * expected.colwise().squaredNorm();
  }
  factor_near_.matrixL().solveInPlace(covariance);
  return {.mean = mean(features),
          .sd = (before - covariance.colwise().squaredNorm())
                    .array()
                    .max(least_variance)
                    .sqrt()
                    .matrix()
                    .transpose()};
}

VectorXd Surrogate::covariance(const MatrixXd& features, const VectorXd& point) const {
  const MatrixXd there = inverse_lengths_.asDiagonal() * features;
  const VectorXd here = inverse_lengths_.cwiseProduct(point);
  MatrixXd near = matern(distances(scaled_near_, there)).matrix();
  VectorXd near_here = Covariances(scaled_near_, here).values;
  VectorXd covariance = Covariances(there, here).values;
  if (earlier_) {
    const MatrixXd expected = earlier_->expected(features);
    const VectorXd expected_here = earlier_->expected(point);
    near += earlier_variance_ * earlier_near_.transpose() * expected;
    near_here += earlier_variance_ * earlier_near_.transpose() * expected_here;
    covariance += earlier_variance_ * expected.transpose() * expected_here;
  }
  return covariance - near.transpose() * factor_near_.solve(near_here);
}

Surrogate::Slope Surrogate::slope(const VectorXd& features) const {
  const VectorXd here = inverse_lengths_.cwiseProduct(features);
  const Covariances all(scaled_, here), near(scaled_near_, here);
  VectorXd covariance = near.values;
  double before = 1;
  VectorXd expected;
  if (earlier_) {
    expected = earlier_->expected(features);
    covariance += earlier_variance_ * earlier_near_.transpose() * expected;
    before += earlier_variance_ * expected.squaredNorm();
  }
  const VectorXd solved = factor_near_.solve(covariance);
  const double variance = before - covariance.dot(solved),
               sd = std::sqrt(std::max(variance, least_variance));
  Slope result{.mean = all.values.dot(weights_) + constant_,
               .sd = sd,
               .mean_slope = inverse_lengths_.cwiseProduct(all.slope(weights_)),
               .sd_slope = VectorXd::Zero(features.size())};
  const bool varies = variance > least_variance;
  if (varies) result.sd_slope = inverse_lengths_.cwiseProduct(near.slope(solved)) / -sd;
  if (earlier_) {
    const MatrixXd slopes = earlier_->slopes(features);
    result.mean += expected.dot(earlier_weights_);
    result.mean_slope += slopes * earlier_weights_;
    if (varies)
      result.sd_slope += slopes * (expected - earlier_near_ * solved) * earlier_variance_ / sd;
  }
  return result;
}

VectorXd Surrogate::mean_slope(const VectorXd& features) const {
  const VectorXd here = inverse_lengths_.cwiseProduct(features);
  VectorXd slope = inverse_lengths_.cwiseProduct(Covariances(scaled_, here).slope(weights_));
  if (earlier_) slope += earlier_->slopes(features) * earlier_weights_;
  return slope;
}

Surrogate::Joint Surrogate::of_sets(const MatrixXd& features, const std::vector<int>& sets) const {
  const MatrixXd there = inverse_lengths_.asDiagonal() * features;
  MatrixXd half = matern(distances(scaled_, there)).matrix() + roughness_ * equal(sets_, sets);
  MatrixXd before = matern(distances(there, there)).matrix() + roughness_ * equal(sets, sets);
  VectorXd mean = (half.transpose() * weights_).array() + constant_;
  if (earlier_) {
    const MatrixXd expected = earlier_->expected(features);
    mean += expected.transpose() * earlier_weights_;
    half += earlier_variance_ * earlier_known_.transpose() * expected;
    before += earlier_variance_ * expected.transpose() * expected;
  }
  factor_.matrixL().solveInPlace(half);
  const VectorXd ones = factor_.matrixL().solve(VectorXd::Ones(scaled_.cols()));
  // What the observations leave of the constant at each place.
  const VectorXd rest = VectorXd::Ones(there.cols()) - half.transpose() * ones;
  return {.mean = mean,
          .covariance =
              before - half.transpose() * half + rest * rest.transpose() / ones.squaredNorm()};
}

VectorXd Surrogate::mean(const MatrixXd& features) const {
  const MatrixXd covariance = matern(distances(scaled_, inverse_lengths_.asDiagonal() * features));
  VectorXd mean = (covariance.transpose() * weights_).array() + constant_;
  if (earlier_) mean += earlier_->expected(features).transpose() * earlier_weights_;
  return mean;
}

}  // namespace evolve::ga

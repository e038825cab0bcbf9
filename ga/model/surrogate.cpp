#include "ga/model/surrogate.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ga/model/basis.hpp"

namespace evolve::ga {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double least_variance = 1e-12;

// Of one point with each column of `points`: [n]. In units of the length scales.
struct Covariances {
  const MatrixXd& points;
  const VectorXd& here;
  VectorXd values, decline;

  Covariances(const MatrixXd& points_, const VectorXd& here_) : points(points_), here(here_) {
    const ArrayXd r = (5 * (points.colwise() - here).colwise().squaredNorm().array()).sqrt();
    values = matern(r).matrix();
    decline = matern_decline(r).matrix();
  }
  // How their weighted sum changes with each feature: [features].
  VectorXd slope(const VectorXd& weights) const {
    const VectorXd pull = decline.cwiseProduct(weights);
    return points * pull - here * pull.sum();
  }
};

VectorXd roughnesses_of(const Observations& observations, const KernelParameters& parameters) {
  const double usual = variances_of(parameters).roughness;
  if (observations.roughness.size() > 0) return usual * observations.roughness;
  return VectorXd::Constant(observations.values.size(), usual);
}

}  // namespace

Surrogate::Surrogate(const Observations& observations, const MatrixXd& pending,
                     const KernelParameters& parameters, Index spread_points, const Basis* basis)
    : inverse_lengths_(inverse_lengths(observations.gene_of, parameters)),
      sets_(observations.set),
      roughnesses_(roughnesses_of(observations, parameters)),
      scaled_(inverse_lengths_.asDiagonal() * observations.features),
      loadings_(observations.curves.loadings(scaled_.cols())),
      basis_(basis) {
  const Variances variances = variances_of(parameters);
  usual_roughness_ = variances.roughness;
  new_set_variance_ = variances.noise + variances.seed + variances.roughness;
  const Curves& curves = observations.curves;
  Covariance covariance = covariance_of(matern(distances(scaled_, scaled_)).matrix(),
                                        observations.seed, sets_, curves, variances);
  add_odd(covariance, roughnesses_, variances.roughness);
  VectorXd values = observations.values;
  if (basis_) {
    basis_known_ = basis_->values(observations.features) * loadings_.asDiagonal();
    covariance.all += basis_known_.transpose() * basis_known_;
    values -= basis_known_.transpose() * basis_->weight_means();
  }
  known_ =
      conditioned(std::move(covariance.all), variances.noise, noise_factors(observations), values);
  end_weights_ = loadings_.cwiseProduct(known_.weights);
  if (basis_) basis_weights_ = basis_->weight_means() + basis_known_ * known_.weights;
  if (curves.any()) {
    posterior_mean_ =
        mean(observations.features) + roughnesses_.cwiseProduct(equal(sets_, sets_) * end_weights_);
  } else {
    const MatrixXd of_seeds = variances.seed * covariance.of_seeds;
    posterior_mean_ = observations.values -
                      known_.noise * known_.noises.cwiseProduct(known_.weights) -
                      of_seeds * known_.weights;
  }
  condition_spread(observations, pending, parameters, spread_points);
}

void Surrogate::condition_spread(const Observations& observations, const MatrixXd& pending,
                                 const KernelParameters& parameters, Index spread_points) {
  const Index near = std::min(scaled_.cols(), spread_points);
  if (near == scaled_.cols() && pending.cols() == 0) {  // all rests on the same
    scaled_near_ = scaled_;
    loadings_near_ = loadings_;
    factor_near_ = known_.factor;
    basis_near_ = basis_known_;
    return;
  }
  scaled_near_.resize(scaled_.rows(), near + pending.cols());
  scaled_near_ << scaled_.leftCols(near), inverse_lengths_.asDiagonal() * pending;
  const auto beside_pending = [&](const VectorXd& known) {
    VectorXd all = VectorXd::Ones(scaled_near_.cols());
    all.head(near) = known.head(near);
    return all;
  };
  loadings_near_ = beside_pending(loadings_);
  std::vector<int> seeds(observations.seed.begin(), observations.seed.begin() + near);
  std::vector<int> sets(sets_.begin(), sets_.begin() + near);
  for (int i = 1; i <= pending.cols(); ++i) {  // each unlike any other
    seeds.push_back(-i);
    sets.push_back(-i);
  }
  Covariance covariance =
      covariance_of(matern(distances(scaled_near_, scaled_near_)).matrix(), seeds, sets,
                    observations.curves.first(near, pending.cols()), variances_of(parameters));
  add_odd(covariance, roughnesses_.head(near), usual_roughness_);
  if (basis_) {
    basis_near_.resize(basis_known_.rows(), scaled_near_.cols());
    basis_near_ << basis_known_.leftCols(near), basis_->values(pending);
    covariance.all += basis_near_.transpose() * basis_near_;
  }
  factor_near_ =
      factorised(std::move(covariance.all), known_.noise, beside_pending(known_.noises)).llt;
}

VectorXd Surrogate::leave_one_out_errors() const {
  const MatrixXd inverse = inverse_factor(known_.factor);
  const VectorXd sums = inverse.transpose() * inverse.rowwise().sum();  // of K^-1's rows
  const VectorXd precision =
      inverse.colwise().squaredNorm().transpose() - sums.cwiseAbs2() / sums.sum();
  return known_.weights.cwiseQuotient(precision);
}

Surrogate::Prediction Surrogate::predict(const MatrixXd& features) const {
  MatrixXd covariance =
      loadings_near_.asDiagonal() *
      matern(distances(scaled_near_, inverse_lengths_.asDiagonal() * features)).matrix();
  Eigen::RowVectorXd before = Eigen::RowVectorXd::Ones(features.cols());
  const MatrixXd basis = basis_values(features);
  if (basis_) {
    covariance += basis_near_.transpose() * basis;
    before += basis.colwise().squaredNorm();
  }
  factor_near_.matrixL().solveInPlace(covariance);
  return {.mean = mean(features, basis),
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
  MatrixXd near = loadings_near_.asDiagonal() * matern(distances(scaled_near_, there)).matrix();
  VectorXd near_here = loadings_near_.cwiseProduct(Covariances(scaled_near_, here).values);
  VectorXd covariance = Covariances(there, here).values;
  if (basis_) {
    const MatrixXd expected = basis_->values(features);
    const VectorXd expected_here = basis_->values(point);
    near += basis_near_.transpose() * expected;
    near_here += basis_near_.transpose() * expected_here;
    covariance += expected.transpose() * expected_here;
  }
  return covariance - near.transpose() * factor_near_.solve(near_here);
}

Surrogate::Slope Surrogate::slope(const VectorXd& features) const {
  const VectorXd here = inverse_lengths_.cwiseProduct(features);
  const Covariances all(scaled_, here), near(scaled_near_, here);
  VectorXd covariance = loadings_near_.cwiseProduct(near.values);
  double before = 1;
  VectorXd expected;
  if (basis_) {
    expected = basis_->values(features);
    covariance += basis_near_.transpose() * expected;
    before += expected.squaredNorm();
  }
  const VectorXd solved = factor_near_.solve(covariance);
  const double variance = before - covariance.dot(solved),
               sd = std::sqrt(std::max(variance, least_variance));
  Slope result{.mean = all.values.dot(end_weights_) + known_.constant,
               .sd = sd,
               .mean_slope = inverse_lengths_.cwiseProduct(all.slope(end_weights_)),
               .sd_slope = VectorXd::Zero(features.size())};
  const bool varies = variance > least_variance;
  if (varies) {
    const VectorXd pull = near.slope(loadings_near_.cwiseProduct(solved));
    result.sd_slope = inverse_lengths_.cwiseProduct(pull) / -sd;
  }
  if (basis_) {
    const MatrixXd slopes = basis_->slopes(features);
    result.mean += expected.dot(basis_weights_);
    result.mean_slope += slopes * basis_weights_;
    if (varies) result.sd_slope += slopes * (expected - basis_near_ * solved) / sd;
  }
  return result;
}

VectorXd Surrogate::mean_slope(const VectorXd& features) const {
  const VectorXd here = inverse_lengths_.cwiseProduct(features);
  VectorXd slope = inverse_lengths_.cwiseProduct(Covariances(scaled_, here).slope(end_weights_));
  if (basis_) slope += basis_->slopes(features) * basis_weights_;
  return slope;
}

Surrogate::Joint Surrogate::of_sets(const MatrixXd& features, const std::vector<int>& sets) const {
  const MatrixXd there = inverse_lengths_.asDiagonal() * features;
  const MatrixXd rough = roughnesses_.asDiagonal() * equal(sets_, sets);
  MatrixXd half = loadings_.asDiagonal() * (matern(distances(scaled_, there)).matrix() + rough);
  MatrixXd before = matern(distances(there, there)).matrix();
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const auto at = std::ranges::find(sets_, sets[i]);
    before.diagonal()[static_cast<Index>(i)] +=
        at == sets_.end() ? usual_roughness_ : roughnesses_[at - sets_.begin()];
  }
  VectorXd mean = (half.transpose() * known_.weights).array() + known_.constant;
  if (basis_) {
    const MatrixXd expected = basis_->values(features);
    mean += expected.transpose() * basis_weights_;
    half += basis_known_.transpose() * expected;
    before += expected.transpose() * expected;
  }
  known_.factor.matrixL().solveInPlace(half);
  const VectorXd ones = known_.factor.matrixL().solve(VectorXd::Ones(scaled_.cols()));
  // What the observations leave of the constant at each place.
  const VectorXd rest = VectorXd::Ones(there.cols()) - half.transpose() * ones;
  return {.mean = mean,
          .covariance =
              before - half.transpose() * half + rest * rest.transpose() / ones.squaredNorm()};
}

MatrixXd Surrogate::basis_values(const MatrixXd& features) const {
  return basis_ ? basis_->values(features) : MatrixXd();
}

VectorXd Surrogate::mean(const MatrixXd& features) const {
  return mean(features, basis_values(features));
}

VectorXd Surrogate::mean(const MatrixXd& features, const MatrixXd& basis) const {
  const MatrixXd covariance = matern(distances(scaled_, inverse_lengths_.asDiagonal() * features));
  VectorXd mean = (covariance.transpose() * end_weights_).array() + known_.constant;
  if (basis_) mean += basis.transpose() * basis_weights_;
  return mean;
}

}  // namespace evolve::ga

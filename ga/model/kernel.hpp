// What the Gaussian process of ga/model/surrogate.hpp is conditioned on, and the covariances of
// that.
//
// Matérn-5/2 with one length scale per gene (R&W eq. 4.17 and 5.1; Rasmussen and Williams 2006) and
// unit variance, and three more variances: what one set is better than its neighbourhood lets
// expect, however often it is trained (roughness); what a training seed does to the sets that are
// trained with it (a random effect, as blocks of an experiment have it: half of its variance is the
// same for every set, half differs from region to region as the signal does, so that a search with
// few seeds cannot take what suits just these for better); and noise, which is new in every
// training.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "ga/model/curves.hpp"

namespace evolve::ga {

/// What the model is conditioned on.
struct Observations {
  /// [features, n]
  Eigen::MatrixXd features;
  /// Gene of each feature: features of one gene share its length scale.
  std::vector<int> gene_of;
  /// [n], of mean 0 and standard deviation 1.
  Eigen::VectorXd values;
  /// [n], factors of the noise variance, above 0.
  Eigen::VectorXd noise;
  /// [n], number of the training seed, and a number that trainings of one set share.
  std::vector<int> seed, set;
  /// [n], factors of the roughness variance of each one's set; empty: all 1.
  Eigen::VectorXd roughness = {};
  /// What lay ahead of those that were looked at before their end; empty where all have ended.
  Curves curves = {};

  /// The observations at these places.
  Observations of(const std::vector<Eigen::Index>& places) const;
};

/// log length scale of each gene, then the logarithms of three variances, in units of the signal
/// variance: noise, effects of the seeds, roughness. [genes + 3]
using KernelParameters = Eigen::VectorXd;

/// The three variances.
struct Variances {
  double noise = 0, seed = 0, roughness = 0;
};
Variances variances_of(const KernelParameters& parameters);

/// 1 / length scale of each feature: [features].
Eigen::VectorXd inverse_lengths(const std::vector<int>& gene_of,
                                const KernelParameters& parameters);

/// sqrt(5) times the distances between the columns of a and those of b, which are points in units
/// of the length scales: [a, b].
Eigen::ArrayXXd distances(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);

/// The covariance of the signal at those distances.
template <typename Array>
Array matern(const Array& r) {
  return (1 + r + r.square() / 3) * (-r).exp();
}
/// -2 times how it changes with the squared distance, in units of the length scales.
template <typename Array>
Array matern_decline(const Array& r) {
  return (5.0 / 3) * (1 + r) * (-r).exp();
}

/// The covariance of observations, but for the noise of each: [n, n], and what it is the sum of.
struct Covariance {
  Eigen::MatrixXd all;
  /// 1 for trainings that share a seed, a set; else 0. Times the loadings of both (Curves).
  Eigen::MatrixXd same_seed, same_set;
  /// What seeds of unit variance do: half of it to every set, half to those of a region, as the
  /// signal is.
  Eigen::MatrixXd of_seeds;
  /// What becomes of the signal, and of the noise that different observations of one training have
  /// in common; empty where all have ended.
  Eigen::MatrixXd factor, same_noise;
};
/// The covariance of the signal: [n, n].
Eigen::MatrixXd signal_of(const Observations& observations, const KernelParameters& parameters);
/// The noise variance of each observation in units of that of a completed training: [n].
Eigen::VectorXd noise_factors(const Observations& observations);
/// `signal`: its covariance, [n, n].
Covariance covariance_of(const Eigen::MatrixXd& signal, const std::vector<int>& seeds,
                         const std::vector<int>& sets, const Curves& curves,
                         const Variances& variances);
/// Adds what the sets of the first points are rougher, or less rough, than usual.
void add_odd(Covariance& covariance, const Eigen::VectorXd& roughnesses, double usual);

}  // namespace evolve::ga

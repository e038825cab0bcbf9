// A Gaussian process conditioned on values, whatever its covariance: R&W chapter 2, with a constant
// mean that is integrated out.
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <vector>

namespace evolve::ga {

struct Conditioned {
  /// Of the covariance of the values, noise included.
  Eigen::LLT<Eigen::MatrixXd> factor;
  /// The noise variance; more than was asked for where the covariance needed that.
  double noise = 0;
  /// [n], factors of it.
  Eigen::VectorXd noises;
  double constant = 0;
  /// [n], K^-1 (values - constant).
  Eigen::VectorXd weights;
  /// log p(values), the constant integrated out (R&W eq. 2.45), up to a summand that depends on n
  /// only.
  double log_likelihood = 0;
};

struct Factor {
  Eigen::LLT<Eigen::MatrixXd> llt;
  /// The noise variance that it took.
  double noise = 0;
};

/// The Cholesky factor of `covariance` ([n, n], its diagonal without the noise) with `noise` times
/// `noises` on its diagonal. Many points on one spot and next to no noise can be too much for it:
/// then it takes ten times the noise, again and again. Throws std::domain_error where no noise is
/// enough, as on values that are no numbers.
Factor factorised(Eigen::MatrixXd covariance, double noise, const Eigen::VectorXd& noises);

/// What `values` [n] tell about a process of this covariance; takes and throws what factorised()
/// does.
Conditioned conditioned(Eigen::MatrixXd covariance, double noise, const Eigen::VectorXd& noises,
                        const Eigen::VectorXd& values);

/// L^-1 of K = L L^T: [n, n], lower triangular.
Eigen::MatrixXd inverse_factor(const Eigen::LLT<Eigen::MatrixXd>& factor);

/// What is expected of the square of each value's noise, in units of the noise variance: [n].
/// `inverse`: the inverse_factor.
Eigen::VectorXd noise_squares(const Conditioned& conditioned, const Eigen::MatrixXd& inverse);
/// What is expected of the square of a summand that the values of one set share, where that has
/// these variances: [n]. `loadings`: [n], how much of it each value has.
Eigen::VectorXd shared_squares(const Conditioned& conditioned, const Eigen::MatrixXd& inverse,
                               const std::vector<int>& sets, const Eigen::VectorXd& variances,
                               const Eigen::VectorXd& loadings);

}  // namespace evolve::ga

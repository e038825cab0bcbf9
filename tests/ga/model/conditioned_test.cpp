#include "ga/model/conditioned.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

namespace evolve::ga {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Far from each other, so that a value is signal and noise by their variances alone.
TEST(Conditioned, ExpectsTheSquareOfEachNoise) {
  const Eigen::Vector3d values(-1, 0, 1);
  const auto model = conditioned(MatrixXd::Identity(3, 3), 0.5, Eigen::Vector3d(1, 1, 1), values);
  const VectorXd squares = noise_squares(model, inverse_factor(model.factor));
  const double share = 0.5 / 1.5;
  for (int i = 0; i < 3; ++i) {
    const double noise = share * values[i];
    EXPECT_NEAR(squares[i], noise * noise / 0.5 + (1 - share), 1e-12) << i;
  }
}

// All sets are alike but for what is theirs, of twice the usual variance in the second.
TEST(Conditioned, ExpectsTheSquareOfWhatTrainingsOfASetShare) {
  const Eigen::Vector4d variances(0.5, 1, 0.5, 0.5);
  MatrixXd covariance = MatrixXd::Ones(4, 4);
  covariance.diagonal() += variances;
  covariance(2, 3) += 0.5, covariance(3, 2) += 0.5;
  const auto model =
      conditioned(covariance, 0.25, Eigen::Vector4d::Ones(), Eigen::Vector4d(-1, 2, 0, 1));
  const VectorXd squares = shared_squares(model, inverse_factor(model.factor), {7, 3, 9, 9},
                                          variances, Eigen::Vector4d::Ones());
  // The constant takes what all have in common: the residuals add up to 0 in units of variances.
  const Eigen::Vector3d all(0.75, 1.25, 0.5 + 0.125), means(-1, 2, 0.5);
  const double constant = means.cwiseQuotient(all).sum() / all.cwiseInverse().sum();
  const double common = 1 / (1 + all.cwiseInverse().sum());  // the signal's variance is 1
  for (int i = 0; i < 3; ++i) {
    const double mean = variances[i] / all[i] * (means[i] - constant);
    const double left = variances[i] - variances[i] * variances[i] / all[i] +
                        std::pow(variances[i] / all[i], 2) * common;
    EXPECT_NEAR(squares[i], mean * mean + left, 1e-12) << i;
  }
  EXPECT_EQ(squares[2], squares[3]);
}

// (Products and factors of Eigen's that are compiled here, without optimisation, would be the
// library's too.)
TEST(Conditioned, HasTheInverseOfItsFactor) {
  for (const Index n : {1, 31, 32, 33, 100}) {
    const MatrixXd any = MatrixXd::Random(n, n);
    const auto factor = factorised(any.lazyProduct(any.transpose()), 1, VectorXd::Ones(n)).llt;
    const MatrixXd lower = factor.matrixL(), inverse = inverse_factor(factor);
    EXPECT_TRUE(MatrixXd(lower.lazyProduct(inverse)).isIdentity(1e-12)) << n;
    EXPECT_TRUE(inverse.isLowerTriangular(0)) << n;
  }
}

TEST(Conditioned, TakesMoreNoiseWherePointsLieOnOneSpot) {
  const auto model =
      conditioned(MatrixXd::Ones(3, 3), 1e-20, VectorXd::Ones(3), Eigen::Vector3d(1, 2, 3));
  EXPECT_GT(model.noise, 1e-20);
  EXPECT_TRUE(std::isfinite(model.log_likelihood));
}

TEST(Conditioned, OnACovarianceThatNoNoiseMendsIsRefused) {
  const MatrixXd covariance = MatrixXd::Constant(2, 2, -std::numeric_limits<double>::infinity());
  EXPECT_THROW(conditioned(covariance, 0.1, VectorXd::Ones(2), VectorXd::Ones(2)),
               std::domain_error);
}

}  // namespace
}  // namespace evolve::ga

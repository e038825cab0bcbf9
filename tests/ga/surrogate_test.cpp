#include "ga/surrogate.hpp"

#include <gtest/gtest.h>

#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <numeric>

#include "ga/sobol.hpp"

namespace evolve::ga {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

double matern(double distance) {
  const double r = std::sqrt(5.0) * distance;
  return (1 + r + r * r / 3) * std::exp(-r);
}

// Two observations, 1 and -1, at 0 and 1 of one gene with length scale 2, noise variance 0.01.
Observations two() {
  return {MatrixXd{{0, 1}}, {0}, VectorXd{{1, -1}}, VectorXd::Ones(2)};
}
const VectorXd parameters{{std::log(2.0), std::log(0.01)}};

// `n` points of `genes` genes; two features belong to the last gene.
Observations wavy(Eigen::Index genes, Eigen::Index n) {
  Rng rng(1);
  Observations o{sobol_points(genes + 1, n, rng), {}, VectorXd(n), VectorXd::Ones(n)};
  o.gene_of.resize(static_cast<std::size_t>(genes + 1));
  std::iota(o.gene_of.begin(), o.gene_of.end(), 0);
  o.gene_of.back() = static_cast<int>(genes) - 1;
  boost::random::normal_distribution<double> noise(0, 0.05);
  for (Eigen::Index i = 0; i < n; ++i) {
    o.values[i] = std::sin(5 * o.features(0, i)) + 0.3 * o.features(1, i) + noise(rng);
  }
  o.values.array() -= o.values.mean();
  o.noise[0] = 10;
  return o;
}

TEST(Surrogate, OfTwoObservationsIsTheClosedForm) {
  const Surrogate surrogate(two(), MatrixXd(1, 0), parameters);
  const double k = matern(0.5), s = 0.01;
  const auto at = surrogate.predict(MatrixXd{{0.25, 0.5, 40}});
  const double a = matern(0.125), b = matern(0.375);
  EXPECT_NEAR(at.mean[0], (a - b) / (1 + s - k), 1e-12);
  EXPECT_NEAR(at.mean[1], 0, 1e-12);
  EXPECT_NEAR(at.mean[2], 0, 1e-12);
  const double determinant = (1 + s) * (1 + s) - k * k;
  const double explained = ((1 + s) * (a * a + b * b) - 2 * k * a * b) / determinant;
  EXPECT_NEAR(at.sd[0], std::sqrt(1 - explained), 1e-12);
  EXPECT_NEAR(at.sd[2], 1, 1e-12);
  EXPECT_NEAR(surrogate.believed()[0], 1 - s / (1 + s - k), 1e-12);
  EXPECT_NEAR(surrogate.believed()[1], -surrogate.believed()[0], 1e-12);
}

TEST(Surrogate, BelievesItsObservationsAsItPredictsThem) {
  const Observations o = wavy(4, 30);
  VectorXd p = prior_mode(4);
  const Surrogate surrogate(o, MatrixXd(5, 0), p);
  EXPECT_LT((surrogate.believed() - surrogate.predict(o.features).mean).cwiseAbs().maxCoeff(),
            1e-9);
}

TEST(Surrogate, IsUnsureWhereNoiseIsSaidToBeGreat) {
  Observations o = two();
  o.noise[1] = 1000;
  const auto at = Surrogate(o, MatrixXd(1, 0), parameters).predict(o.features);
  EXPECT_LT(at.sd[0], 0.11);
  EXPECT_GT(at.sd[1], 0.3);
}

TEST(Surrogate, BelievesItsMeanOfWhatIsPending) {
  const Observations o = wavy(4, 20);
  Rng rng(2);
  const MatrixXd pending = sobol_points(5, 3, rng), where = sobol_points(5, 50, rng);
  const auto without = Surrogate(o, MatrixXd(5, 0), prior_mode(4)).predict(where);
  const auto with = Surrogate(o, pending, prior_mode(4)).predict(where);
  EXPECT_LT((with.mean - without.mean).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_TRUE((with.sd.array() <= without.sd.array() + 1e-12).all());
  // As if they had ended there.
  Observations told = o;
  told.features.conservativeResize(5, 23);
  told.features.rightCols(3) = pending;
  told.values.conservativeResize(23);
  told.values.tail(3) = Surrogate(o, MatrixXd(5, 0), prior_mode(4)).predict(pending).mean;
  told.noise.conservativeResize(23);
  told.noise.tail(3).setOnes();
  const auto believed = Surrogate(told, MatrixXd(5, 0), prior_mode(4)).predict(where);
  EXPECT_LT((with.sd - believed.sd).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(Surrogate, RestsItsSpreadOnTheFirstPointsAndItsMeanOnAll) {
  const Observations all = wavy(4, 30);
  Observations first = all;
  first.features.conservativeResize(5, 10);
  first.values.conservativeResize(10);
  first.noise.conservativeResize(10);
  Rng rng(2);
  const MatrixXd pending = sobol_points(5, 3, rng), where = sobol_points(5, 50, rng);
  const auto at = Surrogate(all, pending, prior_mode(4), 10).predict(where);
  EXPECT_EQ(at.mean, Surrogate(all, pending, prior_mode(4)).predict(where).mean);
  EXPECT_EQ(at.sd, Surrogate(first, pending, prior_mode(4)).predict(where).sd);
}

TEST(Surrogate, PredictsEachObservationFromTheOthersAsAModelOfTheOthersDoes) {
  const Observations all = wavy(4, 12);
  const VectorXd errors = Surrogate(all, MatrixXd(5, 0), prior_mode(4)).leave_one_out_errors();
  for (Eigen::Index left_out = 0; left_out < 12; ++left_out) {
    std::vector<Eigen::Index> rest(12);
    std::iota(rest.begin(), rest.end(), 0);
    rest.erase(rest.begin() + left_out);
    const Observations others{all.features(Eigen::seqN(0, all.features.rows()), rest), all.gene_of,
                              all.values(rest), all.noise(rest)};
    const Surrogate surrogate(others, MatrixXd(5, 0), prior_mode(4));
    const double expected = surrogate.mean(all.features.col(left_out))[0];
    EXPECT_NEAR(errors[left_out], all.values[left_out] - expected, 1e-9);
  }
}

TEST(Surrogate, BearsManyPointsOnOneSpot) {
  Observations o{MatrixXd::Constant(2, 200, 0.5), {0, 1}, VectorXd::Zero(200), VectorXd::Ones(200)};
  VectorXd p = prior_mode(2);
  p[2] = -40;
  const auto at = Surrogate(o, MatrixXd(2, 0), p).predict(MatrixXd{{0.5}, {0.6}});
  EXPECT_EQ(at.mean[0], 0);
  EXPECT_TRUE(std::isfinite(at.sd[0]));
}

TEST(Posterior, OfTwoObservationsIsTheClosedForm) {
  VectorXd gradient;
  const double k = matern(0.5), s = 0.01;
  const double likelihood =
      1 / (1 + s - k) + 0.5 * std::log((1 + s) * (1 + s) - k * k);  // R&W eq. 5.8
  const double z = (std::log(2.0) - std::sqrt(2.0)) / std::sqrt(3.0), zn = std::log(0.01) + 4;
  const double prior = z * z / 2 + std::log(2.0) + zn * zn / 2 + std::log(0.01);
  EXPECT_NEAR(negative_log_posterior(two(), parameters, gradient), likelihood + prior, 1e-12);
}

TEST(Posterior, HasTheGradientOfItsDifferences) {
  const Observations o = wavy(4, 25);
  VectorXd p{{-0.5, 0.3, 1, 2, -3}}, gradient, unused;
  negative_log_posterior(o, p, gradient);
  for (Eigen::Index i = 0; i < p.size(); ++i) {
    const double h = 1e-5;
    VectorXd above = p, below = p;
    above[i] += h;
    below[i] -= h;
    const double slope =
        (negative_log_posterior(o, above, unused) - negative_log_posterior(o, below, unused)) /
        (2 * h);
    EXPECT_NEAR(gradient[i], slope, 1e-6 * std::max(1.0, std::abs(slope))) << i;
  }
}

TEST(Posterior, IsThePriorsWhereTheValuesSayNothing) {
  // A flat gradient of the prior at its mode: one observation is explained by the constant.
  const Observations o{MatrixXd{{0.5}, {0.5}}, {0, 1}, VectorXd::Zero(1), VectorXd::Ones(1)};
  VectorXd gradient;
  VectorXd mode = prior_mode(2);
  negative_log_posterior(o, mode, gradient);
  EXPECT_NEAR(gradient[0], 0, 1e-12);
  EXPECT_NEAR(gradient[1], 0, 1e-12);
}

TEST(Fit, FindsWhichGeneMatters) {
  const Observations o = wavy(4, 60);
  const VectorXd fitted = fit(o, prior_mode(4), 200);
  EXPECT_LT(std::exp(fitted[0]), 1);                // a wave
  EXPECT_GT(fitted[2], fitted[0] + 1);              // nothing
  EXPECT_GT(fitted[3], fitted[0] + 1);              // nothing
  EXPECT_NEAR(std::exp(fitted[4]), 0.0025, 0.003);  // the noise that was added
  VectorXd gradient;
  negative_log_posterior(o, fitted, gradient);
  EXPECT_LT(gradient.norm(), 0.05);
}

TEST(Fit, IsNeverWorseThanItsStart) {
  const Observations o = wavy(6, 40);
  VectorXd unused;
  for (const int evaluations : {1, 2, 5, 50}) {
    VectorXd start = VectorXd::Constant(7, -1);
    EXPECT_LE(negative_log_posterior(o, fit(o, start, evaluations), unused),
              negative_log_posterior(o, start, unused));
  }
}

TEST(Fit, OfEqualValuesEnds) {
  Observations o = wavy(3, 10);
  o.values.setZero();
  EXPECT_TRUE(fit(o, prior_mode(3), 100).allFinite());
}

}  // namespace
}  // namespace evolve::ga

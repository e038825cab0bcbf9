#include "ga/model/surrogate.hpp"

#include <gtest/gtest.h>

#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <numeric>

#include "ga/model/fit.hpp"
#include "ga/random/sobol.hpp"
#include "tests/ga/fixtures.hpp"

namespace evolve::ga {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// Two observations, 1 and -1, at 0 and 1 of one gene with length scale 2, noise variance 0.01.
Observations two() {
  return {MatrixXd{{0, 1}}, {0}, VectorXd{{1, -1}}, VectorXd::Ones(2), {0, 1}, {0, 1}};
}
// Next to no effect of the seeds, next to no roughness.
const VectorXd parameters{{std::log(2.0), std::log(0.01), -60, -60}};

// n different numbers.
std::vector<int> different(Eigen::Index n) {
  std::vector<int> numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

// `n` points of `genes` genes; two features belong to the last gene.
Observations wavy(Eigen::Index genes, Eigen::Index n) {
  Rng rng(1);
  Observations o{
      sobol_points(genes + 1, n, rng), {}, VectorXd(n), VectorXd::Ones(n), {}, different(n)};
  for (int i = 0; i < n; ++i) o.seed.push_back(i % 3);
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
  EXPECT_NEAR(surrogate.posterior_mean()[0], 1 - s / (1 + s - k), 1e-12);
  EXPECT_NEAR(surrogate.posterior_mean()[1], -surrogate.posterior_mean()[0], 1e-12);
}

TEST(Surrogate, BelievesItsObservationsAsItPredictsThem) {
  const Observations o = wavy(4, 30);
  const Surrogate surrogate(o, MatrixXd(5, 0), prior_mode(4));
  const auto sets = surrogate.of_sets(o.features, o.set);
  EXPECT_LT((surrogate.posterior_mean() - sets.mean).cwiseAbs().maxCoeff(), 1e-9);
  VectorXd smooth = prior_mode(4);
  smooth[6] = -60;
  const Surrogate without(o, MatrixXd(5, 0), smooth);
  EXPECT_LT((without.posterior_mean() - without.predict(o.features).mean).cwiseAbs().maxCoeff(),
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
  told.seed.insert(told.seed.end(), {97, 98, 99});
  told.set.insert(told.set.end(), {97, 98, 99});
  const auto believed = Surrogate(told, MatrixXd(5, 0), prior_mode(4)).predict(where);
  EXPECT_LT((with.sd - believed.sd).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(Surrogate, RestsItsSpreadOnTheFirstPointsAndItsMeanOnAll) {
  const Observations all = wavy(4, 30);
  Observations first = all;
  first.features.conservativeResize(5, 10);
  first.values.conservativeResize(10);
  first.noise.conservativeResize(10);
  first.seed.resize(10);
  first.set.resize(10);
  Rng rng(2);
  const MatrixXd pending = sobol_points(5, 3, rng), where = sobol_points(5, 50, rng);
  const auto at = Surrogate(all, pending, prior_mode(4), 10).predict(where);
  EXPECT_EQ(at.mean, Surrogate(all, pending, prior_mode(4)).predict(where).mean);
  EXPECT_EQ(at.sd, Surrogate(first, pending, prior_mode(4)).predict(where).sd);
}

TEST(Surrogate, PredictsEachObservationFromTheOthersAsAModelOfTheOthersDoes) {
  const Observations all = wavy(4, 12);
  VectorXd q = prior_mode(4);
  q[5] = -60;
  const VectorXd errors = Surrogate(all, MatrixXd(5, 0), q).leave_one_out_errors();
  for (Eigen::Index left_out = 0; left_out < 12; ++left_out) {
    std::vector<Eigen::Index> rest(12);
    std::iota(rest.begin(), rest.end(), 0);
    rest.erase(rest.begin() + left_out);
    Observations others{all.features(Eigen::seqN(0, all.features.rows()), rest),
                        all.gene_of,
                        all.values(rest),
                        all.noise(rest),
                        all.seed,
                        all.set};
    others.seed.erase(others.seed.begin() + left_out);
    others.set.erase(others.set.begin() + left_out);
    VectorXd p = prior_mode(4);
    p[5] = -60;  // what a seed does is no part of what is predicted of a set
    const Surrogate surrogate(others, MatrixXd(5, 0), p);
    const double expected = surrogate.mean(all.features.col(left_out))[0];
    EXPECT_NEAR(errors[left_out], all.values[left_out] - expected, 1e-9);
  }
}

TEST(Surrogate, BearsManyPointsOnOneSpot) {
  Observations o{MatrixXd::Constant(2, 200, 0.5),
                 {0, 1},
                 VectorXd::Zero(200),
                 VectorXd::Ones(200),
                 std::vector<int>(200),
                 std::vector<int>(200)};
  VectorXd p = prior_mode(2);
  p.tail<3>().setConstant(-40);
  const auto at = Surrogate(o, MatrixXd(2, 0), p).predict(MatrixXd{{0.5}, {0.6}});
  EXPECT_EQ(at.mean[0], 0);
  EXPECT_TRUE(std::isfinite(at.sd[0]));
}

TEST(Posterior, OfTwoObservationsIsTheClosedForm) {
  VectorXd gradient;
  const double k = matern(0.5), s = 0.01;
  const double likelihood =
      1 / (1 + s - k) + 0.5 * std::log((1 + s) * (1 + s) - k * k);  // R&W eq. 5.8
  const double z = (std::log(2.0) - std::log(0.25)) / 1.15;
  const double zn = (std::log(0.01) + 2.5) / 2, zs = (-60 + 6) / 1.5;
  const double prior = z * z / 2 + zn * zn / 2 + 2 * zs * zs / 2;
  EXPECT_NEAR(negative_log_posterior(two(), parameters, gradient), likelihood + prior, 1e-12);
}

TEST(Posterior, HasTheGradientOfItsDifferences) {
  const Observations o = wavy(4, 25);
  VectorXd p{{-0.5, 0.3, 1, 2, -3, -2, -2.5}}, gradient, unused;
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
  const Observations o{MatrixXd{{0.5}, {0.5}}, {0, 1}, VectorXd::Zero(1),
                       VectorXd::Ones(1),      {0},    {0}};
  VectorXd gradient;
  VectorXd mode = prior_mode(2);
  negative_log_posterior(o, mode, gradient);
  EXPECT_NEAR(gradient[0], 0, 1e-12);
  EXPECT_NEAR(gradient[1], 0, 1e-12);
}

// What trainings of one set have in common is the set's, what those of one seed have is the seed's.
TEST(Fit, TellsNoiseFromSeedsAndFromSets) {
  constexpr int sets = 20, seeds = 4;
  Rng rng(3);
  boost::random::normal_distribution<double> normal;
  const MatrixXd points = sobol_points(1, sets, rng);
  const VectorXd of_seed{{-2, 0, 1, 1}};
  for (const bool noisy : {true, false}) {
    Observations o{
        MatrixXd(1, sets * seeds), {0}, VectorXd(sets * seeds), VectorXd::Ones(sets * seeds)};
    for (int set = 0; set < sets; ++set) {
      const double rough = noisy ? 0 : 0.3 * normal(rng);
      for (int seed = 0; seed < seeds; ++seed) {
        const int i = set * seeds + seed;
        o.features(0, i) = points(0, set);
        o.values[i] = 3 * points(0, set) + 0.3 * of_seed[seed] + rough;
        if (noisy) o.values[i] += 0.3 * normal(rng);
        o.set.push_back(set);
        o.seed.push_back(seed);
      }
    }
    const auto [noise, seed, roughness] = variances_of(fit(o, prior_mode(1), 200));
    EXPECT_GT(seed, 0.02) << noisy;
    // What the sets have of their own may be roughness, or a function that is as rough.
    if (noisy) {
      EXPECT_GT(noise, 0.04);
      EXPECT_LT(roughness, 0.01);
    } else {
      EXPECT_LT(noise, 1e-3);
    }
  }
}

TEST(Fit, FindsWhichGeneMatters) {
  const Observations o = wavy(4, 60);
  const VectorXd fitted = fit(o, prior_mode(4), 200);
  EXPECT_LT(std::exp(fitted[0]), 1);    // a wave
  EXPECT_GT(fitted[2], fitted[0] + 1);  // nothing
  EXPECT_GT(fitted[3], fitted[0] + 1);  // nothing
  const auto [noise, seed, roughness] = variances_of(fitted);
  const double all = noise + seed + roughness;  // 0.0025 of noise was added
  EXPECT_GT(all, 0.0005);
  EXPECT_LT(all, 0.0085);
  VectorXd gradient;
  negative_log_posterior(o, fitted, gradient);
  EXPECT_LT(gradient.norm(), 0.05);
}

TEST(Fit, IsNeverWorseThanItsStart) {
  const Observations o = wavy(6, 40);
  VectorXd unused;
  for (const int evaluations : {1, 2, 5, 50}) {
    VectorXd start = VectorXd::Constant(9, -1);
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

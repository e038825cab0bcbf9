#include "ga/model/curves.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>

#include "ga/model/basis.hpp"
#include "ga/model/fit.hpp"
#include "ga/model/history.hpp"
#include "tests/ga/fixtures.hpp"

namespace evolve::ga {
namespace {

using Eigen::MatrixXd;

TEST(Curves, HaveACovarianceOfTheShorterWayBack) {
  const Curves curves{.left = Eigen::Vector3d(0.5, 0.25, 0),
                      .training = {0, 0, 1},
                      .parameters = {.shared = 0.1, .own = 4}};
  MatrixXd walk(3, 3), factor(3, 3), same(3, 3);
  walk << 2.5, 1.25, 0, 1.25, 1.25, 0, 0, 0, 0;  // (1 + 4) of one training
  factor << 1.05, 1.025, 1, 1.025, 1.025, 1, 1, 1, 1;
  same << 0, 1, 0, 1, 0, 0, 0, 0, 0;
  EXPECT_TRUE(curves.walk().isApprox(walk));
  EXPECT_TRUE(curves.factor().isApprox(factor));
  EXPECT_TRUE(curves.same_noise().isApprox(same));
  EXPECT_TRUE(curves.any());
  EXPECT_FALSE(Curves{}.any());
  EXPECT_FALSE(curves.of({2}).any());
  EXPECT_EQ(curves.first(1, 2).left, Eigen::Vector3d(0.5, 0, 0));
  EXPECT_EQ(curves.loadings(3), Eigen::Vector3d(1, 1, 1));
  EXPECT_EQ(Curves{}.loadings(2), Eigen::Vector2d(1, 1));
}

TEST(Curves, HaveTheLessOfTheirEndsTheEarlierTheyAreLookedAt) {
  const Curves curves{.left = Eigen::Vector3d(0.5, 0.25, 0),
                      .training = {0, 0, 1},
                      .parameters = {.shared = 0, .fading = 4}};
  EXPECT_EQ(curves.loadings(3), Eigen::Vector3d(-1, 0, 1));
  MatrixXd factor(3, 3);
  factor << 1, 0, -1, 0, 0, 0, -1, 0, 1;
  EXPECT_TRUE(curves.factor().isApprox(factor));
}

TEST(Curves, HaveTheLessOfEverythingThatTheirEndsHave) {
  const Observations o{.noise = Eigen::Vector3d::Ones(),
                       .curves = {.left = Eigen::Vector3d(0.5, 0.25, 0),
                                  .training = {0, 0, 0},
                                  .parameters = {.shared = 0, .own = 0, .fading = 3}}};
  const Variances variances{.noise = 0.3, .seed = 0.2, .roughness = 0.1};
  MatrixXd all = covariance_of(MatrixXd::Ones(3, 3), {4, 4, 4}, {5, 5, 5}, o.curves, variances).all;
  all.diagonal() += variances.noise * noise_factors(o);
  const Eigen::Vector3d loadings(-0.5, 0.25, 1);
  MatrixXd walk(3, 3);  // of what all trainings have in common
  walk << 0.5, 0.25, 0, 0.25, 0.25, 0, 0, 0, 0;
  EXPECT_TRUE(all.isApprox((1 + 0.2 + 0.1 + 0.3) * loadings * loadings.transpose() + walk));
}

// An end at 0 and a look at 1 that has half of its own end, and that turned round; of one gene with
// length scale 2.
Observations an_end_and_a_look() {
  return {.features = MatrixXd{{0, 1}},
          .gene_of = {0},
          .values = Eigen::Vector2d(1, 0.5),
          .noise = Eigen::Vector2d::Ones(),
          .seed = {0, 1},
          .set = {0, 1},
          .curves = {.left = Eigen::Vector2d(0, 0.5),
                     .training = {0, 1},
                     .parameters = {.shared = 0.5, .own = 0.125, .fading = 3}}};
}
// Noise variance 0.01, next to no effect of the seeds, roughness 0.1.
const KernelParameters rough{{std::log(2.0), std::log(0.01), -60, std::log(0.1)}};

double matern_of(double distance) {
  return matern(distance / 2);
}

// The constant of greatest likelihood, and the weights of what is observed beyond it.
struct Regression {
  Eigen::Matrix2d inverse;
  double constant;
  Eigen::Vector2d weights;
};
Regression regression(const Eigen::Matrix2d& covariance, const Eigen::Vector2d& values) {
  const Eigen::Matrix2d inverse = covariance.inverse();
  const Eigen::Vector2d ones(1, 1);
  const double constant = ones.dot(inverse * values) / ones.dot(inverse * ones);
  return {inverse, constant, inverse * (values.array() - constant).matrix()};
}

TEST(Curves, ThatSpeakAgainstTheirEndsAreReadSo) {
  const Surrogate model(an_end_and_a_look(), rough);
  const double l = -0.5;
  Eigen::Matrix2d covariance;
  covariance << 1 + 0.1 + 0.01, l * matern_of(1), l * matern_of(1),
      l * l * (1 + 0.1 + 0.01) + 0.5 * (1 + 0.5 + 0.125);
  const auto [inverse, constant, weights] = regression(covariance, {1, 0.5});
  const Eigen::Vector2d ones(1, 1);
  const Eigen::Vector2d with_new(matern_of(0.75), l * matern_of(0.25));
  const auto at = model.predict(MatrixXd{{0.75}});
  EXPECT_NEAR(at.mean[0], constant + with_new.dot(weights), 1e-12);
  EXPECT_NEAR(at.sd[0], std::sqrt(1 - with_new.dot(inverse * with_new)), 1e-12);
  // The end of the set that was looked at.
  const Eigen::Vector2d with_end(matern_of(1), l * (1 + 0.1));
  const auto end = model.of_sets(MatrixXd{{1}}, {1});
  const double rest = 1 - with_end.dot(inverse * ones);
  EXPECT_NEAR(end.mean[0], constant + with_end.dot(weights), 1e-12);
  EXPECT_NEAR(model.posterior_mean()[1], end.mean[0], 1e-12);
  EXPECT_NEAR(end.covariance(0, 0),
              1.1 - with_end.dot(inverse * with_end) + rest * rest / ones.dot(inverse * ones),
              1e-12);
}

TEST(Curves, ThatSpeakAgainstTheirEndsLearnSoFromWhatIsExpectedOfASet) {
  const std::vector<hyp::Gene> space = {real(0, 1, 0.25)};
  const EarlierRuns none;
  const Basis basis(space, none);
  const Observations known = an_end_and_a_look();
  const Surrogate model(known, MatrixXd(1, 0), rough, 2, &basis);
  const double l = -0.5;
  const Eigen::RowVector2d expected = basis.values(known.features);
  const double expected_there = basis.values(MatrixXd{{0.75}})(0, 0),
               mean = basis.weight_means()[0];
  const Eigen::Vector2d have(expected[0], l * expected[1]);
  Eigen::Matrix2d covariance;
  covariance << 1.11, l * matern_of(1), l * matern_of(1), l * l * 1.11 + 0.5 * 1.625;
  covariance += have * have.transpose();
  const auto [inverse, constant, weights] = regression(covariance, known.values - mean * have);
  const Eigen::Vector2d with_new =
      Eigen::Vector2d(matern_of(0.75), l * matern_of(0.25)) + expected_there * have;
  const auto at = model.predict(MatrixXd{{0.75}});
  EXPECT_NEAR(at.mean[0], constant + mean * expected_there + with_new.dot(weights), 1e-12);
  EXPECT_NEAR(at.sd[0],
              std::sqrt(1 + expected_there * expected_there - with_new.dot(inverse * with_new)),
              1e-12);
}

TEST(Curves, ThatSpeakAgainstTheirEndsAreReadAlikeByAllThatIsAskedOfTheModel) {
  const Surrogate model(an_end_and_a_look(), MatrixXd{{0.25}}, rough);
  const Eigen::VectorXd here{{0.75}};
  const auto at = model.predict(here);
  const auto slope = model.slope(here);
  EXPECT_NEAR(slope.mean, at.mean[0], 1e-12);
  EXPECT_NEAR(slope.sd, at.sd[0], 1e-12);
  EXPECT_NEAR(model.mean(here)[0], at.mean[0], 1e-12);
  EXPECT_NEAR(model.covariance(here, here)[0], at.sd[0] * at.sd[0], 1e-12);
  EXPECT_NEAR(model.of_sets(here, {7}).mean[0], at.mean[0], 1e-12);
  const auto up = model.predict(MatrixXd{{0.75 + 1e-5}}),
             down = model.predict(MatrixXd{{0.75 - 1e-5}});
  EXPECT_NEAR(slope.mean_slope[0], (up.mean[0] - down.mean[0]) / 2e-5, 1e-8);
  EXPECT_NEAR(slope.sd_slope[0], (up.sd[0] - down.sd[0]) / 2e-5, 1e-8);
  EXPECT_NEAR(model.mean_slope(here)[0], slope.mean_slope[0], 1e-12);
}

// As negative_log_posterior promises of every covariance.
TEST(Curves, LeaveTheGradientOfThePosteriorRight) {
  Observations known{.features = MatrixXd::Random(2, 6),
                     .gene_of = {0, 1},
                     .values = Eigen::VectorXd::Random(6),
                     .noise = Eigen::VectorXd::Ones(6),
                     .seed = {0, 0, 1, 1, 2, 0},
                     .set = {0, 0, 1, 1, 2, 3}};
  known.features.col(1) = known.features.col(0);
  known.features.col(3) = known.features.col(2);
  known.curves = {.left = Eigen::VectorXd::Zero(6), .training = {0, 0, 1, 1, 2, 3}};
  known.curves.left << 0.9, 0, 0.9, 0.6, 0.9, 0;
  known.curves.parameters.fading = 2;
  const KernelParameters at = prior_mode(2);
  Eigen::VectorXd gradient, unused;
  negative_log_posterior(known, at, gradient);
  for (Eigen::Index i = 0; i < at.size(); ++i) {
    KernelParameters up = at, down = at;
    up[i] += 1e-5;
    down[i] -= 1e-5;
    const double slope =
        (negative_log_posterior(known, up, unused) - negative_log_posterior(known, down, unused)) /
        2e-5;
    EXPECT_NEAR(gradient[i], slope, 1e-6) << i;
  }
}

Observation seen(int trial, double fitness, double left = 0) {
  return {.ending = left > 0 ? Observation::Ending::at_rung : Observation::Ending::completed,
          .fitness = fitness,
          .trial = trial,
          .left = left};
}

// What is not known of the end of a set that was looked at, and whose neighbours tell nothing of
// it; what the other trainings gained differs by so much.
double variance_of_a_paused_set(double difference) {
  const hyp::Space space = cube();
  History history(space.genes);
  for (int trial = 0; trial < 12; ++trial) {
    const double end = 0.5 + 0.02 * (trial * 7 % 12);
    const hyp::Genes genes = {0.05 * trial, -5 + 0.8 * trial, 0.001 + 0.008 * trial};
    const double gain = 0.2 + (trial % 2 == 0 ? difference : -difference);
    history.add(genes, seen(trial, end - gain, 0.875));
    if (trial == 11) continue;
    history.add(genes, seen(trial, end));
    Observation again = seen(trial, end);  // so that no difference between sets is taken for luck
    again.repeat = 1;
    history.add(genes, again);
  }
  const auto known = history.select(history.size(), model_points, history.parameters());
  const Surrogate model(known.observations, MatrixXd(3, 0), history.parameters());
  const Points there = point_of(space.genes, {0.55, 3.8, 0.089});
  return model.of_sets(features_of(space.genes, there), {*history.number_of({0.55, 3.8, 0.089})})
      .covariance(0, 0);
}

TEST(Curves, OfWhichGainsAreAlikeSayMoreThanOthers) {
  EXPECT_LT(variance_of_a_paused_set(0), 0.25 * variance_of_a_paused_set(0.15));
}

// What is learnt of the curves of 30 sets that have a look `look(i)`, and of which the first so
// many then end at `end(i)`.
template <class Look, class End>
CurveParameters learnt(const Look& look, const End& end, int ended = 30) {
  const hyp::Space space = cube();
  History history(space.genes);
  for (int trial = 0; trial < 30; ++trial) {
    const hyp::Genes genes = {0.03 * trial, -5 + 0.3 * (trial * 11 % 30), 0.05};
    history.add(genes, seen(trial, look(trial), 0.875));
    if (trial < ended) history.add(genes, seen(trial, end(trial)));
  }
  return history.curve_parameters();
}

TEST(Curves, AreKnownForWhatTheirLooksSayOfTheEnds) {
  const auto end = [](int i) { return 0.5 + 0.1 * std::sin(0.15 * i); };
  const auto by_chance = [](int i) { return 0.4 + 0.35 * std::sin(97.0 * i); };
  const auto the_worse_the_higher = [&](int i) { return 0.9 - end(i); };
  const auto a_bit_less = [&](int i) { return 0.8 * end(i); };
  const auto chance = learnt(by_chance, end), against = learnt(the_worse_the_higher, end),
             alike = learnt(a_bit_less, end);
  EXPECT_GT(chance.own, 1);
  EXPECT_EQ(chance.fading, 0);
  EXPECT_LT(against.shared, 1);
  EXPECT_GT(against.fading, 1);
  EXPECT_LT(alike.own, 0.1);
  EXPECT_LT(alike.shared, 1);
  EXPECT_EQ(alike.fading, 0);
  EXPECT_EQ(learnt(the_worse_the_higher, end, 1).fading, 0);  // nothing to compare
}

}  // namespace
}  // namespace evolve::ga

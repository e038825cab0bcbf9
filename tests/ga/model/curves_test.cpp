#include "ga/model/curves.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>

#include "ga/model/fit.hpp"
#include "ga/model/history.hpp"
#include "tests/ga/fixtures.hpp"

namespace evolve::ga {
namespace {

using Eigen::MatrixXd;

TEST(Curves, HaveACovarianceOfTheShorterWayBack) {
  const Curves curves{.left = Eigen::Vector3d(0.5, 0.25, 0),
                      .training = {0, 0, 1},
                      .parameters = {.common = 2, .shared = 0.1, .own = 4}};
  MatrixXd walk(3, 3), factor(3, 3), same(3, 3);
  walk << 3, 1.5, 0, 1.5, 1.5, 0, 0, 0, 0;  // (2 + 4) of one training
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

// An end at 0 and a look at 1 that has the opposite of its own, of one gene with length scale 2.
Observations an_end_and_an_opposite() {
  return {.features = MatrixXd{{0, 1}},
          .gene_of = {0},
          .values = Eigen::Vector2d(1, 0.5),
          .noise = Eigen::Vector2d::Ones(),
          .seed = {0, 1},
          .set = {0, 1},
          .curves = {.left = Eigen::Vector2d(0, 0.5),
                     .training = {0, 1},
                     .parameters = {.common = 0.25, .shared = 0.5, .own = 0.125, .fading = 4}}};
}
// Noise variance 0.01, next to no effect of the seeds, next to no roughness.
const KernelParameters plain{{std::log(2.0), std::log(0.01), -60, -60}};

TEST(Curves, ThatSpeakAgainstTheirEndsAreReadSo) {
  const Surrogate model(an_end_and_an_opposite(), plain);
  const auto k = [](double distance) {
    const double r = std::sqrt(5.0) * distance / 2;
    return (1 + r + r * r / 3) * std::exp(-r);
  };
  Eigen::Matrix2d covariance;
  covariance << 1.01, -k(1), -k(1), 1.01 + 0.5 * (0.25 + 0.5 + 0.125);
  const Eigen::Matrix2d inverse = covariance.inverse();
  const Eigen::Vector2d values(1, 0.5), ones(1, 1), with_end(k(0.75), -k(0.25));
  const double constant = ones.dot(inverse * values) / ones.dot(inverse * ones);
  const Eigen::Vector2d weights = inverse * (values.array() - constant).matrix();
  const auto at = model.predict(MatrixXd{{0.75}});
  EXPECT_NEAR(at.mean[0], constant + with_end.dot(weights), 1e-12);
  EXPECT_NEAR(at.sd[0], std::sqrt(1 - with_end.dot(inverse * with_end)), 1e-12);
  EXPECT_GT(at.mean[0], 0.75);  // the look is below the end at 0
}

TEST(Curves, ThatSpeakAgainstTheirEndsAreReadAlikeByAllThatIsAskedOfTheModel) {
  const Surrogate model(an_end_and_an_opposite(), MatrixXd{{0.25}}, plain);
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

// What is learnt of the curves of 30 sets that have a look `look(i)` and then end at `end(i)`.
template <class Look, class End>
CurveParameters learnt(const Look& look, const End& end) {
  const hyp::Space space = cube();
  History history(space.genes);
  for (int trial = 0; trial < 30; ++trial) {
    const hyp::Genes genes = {0.03 * trial, -5 + 0.3 * (trial * 11 % 30), 0.05};
    history.add(genes, seen(trial, look(trial), 0.875));
    history.add(genes, seen(trial, end(trial)));
  }
  history.parameters();
  return history.curve_parameters();
}

TEST(Curves, AreKnownForWhatTheirLooksSayOfTheEnds) {
  const auto end = [](int i) { return 0.5 + 0.1 * std::sin(0.15 * i); };
  const auto by_chance = [](int i) { return 0.4 + 0.35 * std::sin(97.0 * i); };
  const auto the_worse_the_higher = [&](int i) { return 0.9 - end(i); };
  const auto a_bit_less = [&](int i) { return 0.8 * end(i); };
  EXPECT_GT(learnt(by_chance, end).own, 1);
  EXPECT_GT(learnt(the_worse_the_higher, end).fading, 1);
  EXPECT_LT(learnt(the_worse_the_higher, end).shared, 1);
  EXPECT_LT(learnt(a_bit_less, end).own, 0.1);
  EXPECT_LT(learnt(a_bit_less, end).shared, 1);
  EXPECT_EQ(learnt(a_bit_less, end).fading, 0);
}

}  // namespace
}  // namespace evolve::ga

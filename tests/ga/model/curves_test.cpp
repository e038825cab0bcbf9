#include "ga/model/curves.hpp"

#include <gtest/gtest.h>

#include "ga/model/fit.hpp"
#include "ga/model/history.hpp"
#include "tests/ga/fixtures.hpp"

namespace evolve::ga {
namespace {

using Eigen::MatrixXd;

TEST(Curves, HaveACovarianceOfTheShorterWayBack) {
  const Curves curves{.left = Eigen::Vector3d(0.5, 0.25, 0),
                      .training = {0, 0, 1},
                      .variances = {.common = 2, .shared = 0.1, .own = 4}};
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
CurveVariances learnt(const Look& look, const End& end) {
  const hyp::Space space = cube();
  History history(space.genes);
  for (int trial = 0; trial < 30; ++trial) {
    const hyp::Genes genes = {0.03 * trial, -5 + 0.3 * (trial * 11 % 30), 0.05};
    history.add(genes, seen(trial, look(trial), 0.875));
    history.add(genes, seen(trial, end(trial)));
  }
  history.parameters();
  return history.curve_variances();
}

TEST(Curves, OfWhichLooksHaveNothingToDoWithTheEndsCountForNothing) {
  const auto end = [](int i) { return 0.5 + 0.1 * std::sin(0.15 * i); };
  const auto by_chance = [](int i) { return 0.4 + 0.35 * std::sin(97.0 * i); };
  const auto the_worse_the_higher = [&](int i) { return 0.9 - end(i); };
  const auto a_bit_less = [&](int i) { return 0.8 * end(i); };
  EXPECT_GT(learnt(by_chance, end).own, 1);
  EXPECT_GT(learnt(the_worse_the_higher, end).shared, 2);
  EXPECT_LT(learnt(a_bit_less, end).own, 0.1);
  EXPECT_LT(learnt(a_bit_less, end).shared, 1);
}

}  // namespace
}  // namespace evolve::ga

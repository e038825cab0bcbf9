#include "ga/prior.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "ga/sobol.hpp"
#include "tests/ga/fixtures.hpp"

namespace evolve::ga {
namespace {

TEST(Prior, IsHalfEvenAndHalfNormalAroundTheStart) {
  const std::vector space = {real(0, 10, 5)};
  const Points points{{0.5, 0.7, 0.0}};
  const Eigen::VectorXd logs = log_belief(space, points);
  const double top = 1 / (0.2 * std::sqrt(2 * std::numbers::pi));
  EXPECT_DOUBLE_EQ(logs[0], std::log(0.5 + 0.5 * top));
  EXPECT_DOUBLE_EQ(logs[1], std::log(0.5 + 0.5 * top * std::exp(-0.5)));
  EXPECT_DOUBLE_EQ(logs[2], std::log(0.5 + 0.5 * top * std::exp(-0.5 * 6.25)));
}

TEST(Prior, GivesTheStartsChoiceHalfOfTheWeightAndItsEvenShare) {
  const std::vector space = {categorical({"a", "b", "c", "d"}, 1)};
  const Points points{{1.0 / 3, 1.0}};
  const Eigen::VectorXd logs = log_belief(space, points);
  EXPECT_DOUBLE_EQ(logs[0], std::log(0.5 + 0.5 * 4));
  EXPECT_DOUBLE_EQ(logs[1], std::log(0.5));
}

TEST(Prior, MultipliesOverTheGenes) {
  const std::vector both = {real(0, 1, 0.2), real(-1, 1, 0.5)};
  const Points points{{0.3}, {0.9}};
  const double product = log_belief(both, points)[0];
  const double first = log_belief(std::span(both).first(1), points.topRows(1))[0];
  const double second = log_belief(std::span(both).last(1), points.bottomRows(1))[0];
  EXPECT_DOUBLE_EQ(product, first + second);
}

TEST(Prior, HasTheSlopeOfItsDifferences) {
  const std::vector space = {real(0, 1, 0.2), categorical({"a", "b"}), real(-1, 1, 0.5)};
  const Eigen::VectorXd point{{0.3, 0, 0.1}};
  const Eigen::VectorXd slope = log_belief_slope(space, point);
  EXPECT_EQ(slope[1], 0);
  for (const int gene : {0, 2}) {
    Points near = point.replicate(1, 2);
    near.row(gene) += Eigen::RowVector2d(-1e-5, 1e-5);
    const Eigen::VectorXd logs = log_belief(space, near);
    EXPECT_NEAR(slope[gene], (logs[1] - logs[0]) / 2e-5, 1e-6);
  }
}

TEST(TrustInStart, IsTheProbabilityThatItWasChosen) {
  EXPECT_DOUBLE_EQ(trust_in_start(0), 0.9);  // 9 to 1
  EXPECT_DOUBLE_EQ(trust_in_start(1), 0);
  EXPECT_DOUBLE_EQ(trust_in_start(1 - std::pow(9, -1.0 / 8)), 0.5);  // as likely either way
}

TEST(BelievedPoints, AreHalfNearTheStart) {
  const std::vector space = {real(0, 1, 0.5), logarithmic(1e-4, 1, 1e-2)};
  Rng rng(1);
  const Points points = believed_points(space, 4000, 1, rng);
  EXPECT_TRUE((points.array() >= 0).all() && (points.array() <= 1).all());
  for (int gene = 0; gene < 2; ++gene) {
    const auto within = ((points.row(gene).array() - 0.5).abs() < belief_sd).count();
    EXPECT_NEAR(static_cast<double>(within) / 4000, 0.5 * 0.4 + 0.5 * 0.683, 0.025);
  }
}

TEST(BelievedPoints, AreEvenWithoutTrust) {
  const std::vector space = {real(0, 1, 0.5), categorical({"a", "b"}), real(0, 1, 0)};
  Rng rng(1), again(1);
  EXPECT_EQ(believed_points(space, 50, 0, rng), sobol_points(3, 50, again));
}

TEST(BelievedPoints, KeepTheStartsChoiceInMoreThanHalf) {
  const std::vector space = {categorical({"a", "b", "c", "d"}, 2)};
  Rng rng(2);
  const Points points = believed_points(space, 4000, 1, rng);
  int kept = 0;
  for (const double unit : points.row(0)) kept += hyp::from_unit(space[0], unit) == 2;
  EXPECT_NEAR(kept / 4000.0, 0.5 + 0.5 / 4, 0.025);
}

TEST(BelievedPoints, LetAGeneThatStartsAtItsBoundMove) {
  const std::vector space = {real(0, 1, 0)};
  Rng rng(3);
  const Points points = believed_points(space, 100, 1, rng);
  EXPECT_GT(points.minCoeff(), 0);
  EXPECT_GT((points.array() > 0.5).count(), 15);
}

TEST(BelievedPoints, AreTheSameHoweverManyFollow) {
  const std::vector space = {real(0, 1, 0.5), real(0, 1, 0)};
  Rng few(4), many(4);
  EXPECT_EQ(believed_points(space, 3, 1, few), believed_points(space, 50, 1, many).leftCols(3));
}

}  // namespace
}  // namespace evolve::ga

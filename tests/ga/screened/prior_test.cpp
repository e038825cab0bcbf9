#include "ga/screened/prior.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "ga/random/sobol.hpp"
#include "tests/ga/fixtures.hpp"

namespace evolve::ga {
namespace {

TEST(TrustInStart, IsTheProbabilityThatItWasChosen) {
  EXPECT_DOUBLE_EQ(trust_in_start(0), 0.9);  // 9 to 1
  EXPECT_DOUBLE_EQ(trust_in_start(1), 0);
  EXPECT_DOUBLE_EQ(trust_in_start(1 - std::pow(9, -1.0 / 8)), 0.5);  // as likely either way
}

TEST(PriorPoints, AreHalfNearTheStart) {
  const std::vector space = {real(0, 1, 0.5), logarithmic(1e-4, 1, 1e-2)};
  Rng rng(1);
  const Points points = prior_points(space, 4000, 1, rng);
  EXPECT_TRUE((points.array() >= 0).all() && (points.array() <= 1).all());
  for (int gene = 0; gene < 2; ++gene) {
    const auto within = ((points.row(gene).array() - 0.5).abs() < prior_sd).count();
    EXPECT_NEAR(static_cast<double>(within) / 4000, 0.5 * 0.4 + 0.5 * 0.683, 0.025);
  }
}

TEST(PriorPoints, AreEvenWithoutTrust) {
  const std::vector space = {real(0, 1, 0.5), categorical({"a", "b"}), real(0, 1, 0)};
  Rng rng(1), again(1);
  EXPECT_EQ(prior_points(space, 50, 0, rng), sobol_points(3, 50, again));
}

TEST(PriorPoints, KeepTheStartsChoiceInMoreThanHalf) {
  const std::vector space = {categorical({"a", "b", "c", "d"}, 2)};
  Rng rng(2);
  const Points points = prior_points(space, 4000, 1, rng);
  int kept = 0;
  for (const double unit : points.row(0)) kept += hyp::from_unit(space[0], unit) == 2;
  EXPECT_NEAR(kept / 4000.0, 0.5 + 0.5 / 4, 0.025);
}

TEST(PriorPoints, LetAGeneThatStartsAtItsBoundMove) {
  const std::vector space = {real(0, 1, 0)};
  Rng rng(3);
  const Points points = prior_points(space, 100, 1, rng);
  EXPECT_GT(points.minCoeff(), 0);
  EXPECT_GT((points.array() > 0.5).count(), 15);
}

TEST(PriorPoints, AreTheSameHoweverManyFollow) {
  const std::vector space = {real(0, 1, 0.5), real(0, 1, 0)};
  Rng few(4), many(4);
  EXPECT_EQ(prior_points(space, 3, 1, few), prior_points(space, 50, 1, many).leftCols(3));
}

TEST(VariedStart, IsTheStartTimesAFactorNearOne) {
  const std::vector space = {real(-100, 100, -10), logarithmic(1e-6, 1, 1e-2)};
  Rng rng(5);
  Eigen::ArrayXXd factors(2, 4000);
  for (auto factor : factors.colwise()) {
    const auto set = varied_start(space, rng);
    factor << set[0] / -10, set[1] / 1e-2;
  }
  for (const auto& gene : factors.rowwise()) {
    EXPECT_NEAR(gene.mean(), 1, 0.01);
    EXPECT_NEAR(std::sqrt((gene - gene.mean()).square().mean()), 0.2, 0.01);
    EXPECT_GE(gene.minCoeff(), 0.3);
  }
}

TEST(VariedStart, KeepsZerosAndChoicesAndBoundsAndWholeNumbers) {
  const std::vector space = {real(-1, 1, 0), categorical({"a", "b", "c"}, 1), real(0, 0.9, 0.85),
                             integer(2, 100, 40)};
  Rng rng(6);
  bool at_bound = false;
  for (int i = 0; i < 100; ++i) {
    const auto set = varied_start(space, rng);
    EXPECT_EQ(set[0], 0);
    EXPECT_EQ(set[1], 1);
    EXPECT_LE(set[2], 0.9);
    EXPECT_EQ(set[3], std::round(set[3]));
    at_bound |= set[2] == 0.9;
  }
  EXPECT_TRUE(at_bound);
}

}  // namespace
}  // namespace evolve::ga

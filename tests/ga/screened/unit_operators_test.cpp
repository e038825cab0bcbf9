#include "ga/screened/unit_operators.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/ga/fixtures.hpp"

namespace evolve::ga {
namespace {

using Eigen::VectorXd;

TEST(Reflected, FoldsBackAtTheBounds) {
  EXPECT_EQ(reflected(0.25), 0.25);
  EXPECT_EQ(reflected(-0.25), 0.25);
  EXPECT_EQ(reflected(1.25), 0.75);
  EXPECT_EQ(reflected(-3), 0);
  EXPECT_EQ(reflected(3), 0);
}

TEST(Stepped, StopsAtTheBoundThatItPasses) {
  EXPECT_EQ(stepped(0.5, 0.25), 0.75);
  EXPECT_EQ(stepped(0.5, 0.75), 1);
  EXPECT_EQ(stepped(0.5, -2), 0);
}

TEST(Stepped, LeavesTheBoundThatItStandsAt) {
  EXPECT_EQ(stepped(0, -0.25), 0.25);
  EXPECT_EQ(stepped(1, 0.25), 0.75);
  EXPECT_EQ(stepped(1, -0.25), 0.75);
  EXPECT_EQ(stepped(1.3, -0.25), 0.75);
}

TEST(Snapped, IsOnAValueOfTheGene) {
  EXPECT_EQ(snapped(real(0, 9), 0.123), 0.123);
  EXPECT_EQ(snapped(integer(0, 4, 0), 0.3), 0.25);
  EXPECT_EQ(snapped(integer(0, 4, 0), 1), 1);
  EXPECT_EQ(snapped(categorical({"a", "b"}), 0.6), 1);
}

TEST(PickParent, IsTheBestOfThree) {
  Rng rng(1);
  std::vector<int> counts(4);
  for (int i = 0; i < 6400; ++i) ++counts[static_cast<std::size_t>(pick_parent(4, rng))];
  EXPECT_NEAR(counts[0], 3700, 120);  // 1 - (3/4)^3 = 37/64
  EXPECT_NEAR(counts[1], 1900, 120);  // (3/4)^3 - (2/4)^3 = 19/64
  EXPECT_NEAR(counts[2], 700, 90);
  EXPECT_NEAR(counts[3], 100, 40);
}

TEST(Crossed, IsUniformOnTheLineOrACopy) {
  const std::vector space(6, real(0, 1));
  const VectorXd a = VectorXd::Zero(6), b = VectorXd::Ones(6);
  Rng rng(2);
  int copies = 0, lines = 0, uniform = 0;
  for (int i = 0; i < 5000; ++i) {
    const VectorXd child = crossed(space, a, b, rng);
    if ((child.array() == child[0]).all()) {
      EXPECT_GE(child[0], -0.3);
      EXPECT_LE(child[0], 1.3);
      const bool at_an_end = child[0] == 0 || child[0] == 1;
      (at_an_end ? copies : lines) += 1;
    } else {
      for (const double unit : child) EXPECT_TRUE(unit == 0 || unit == 1);
      ++uniform;
    }
  }
  EXPECT_NEAR(lines, 2000, 150);
  EXPECT_NEAR(uniform, 2000 * 31 / 32, 150);  // less those that take every gene from one parent
  EXPECT_NEAR(copies, 1000 + 2000 / 32, 150);
}

TEST(Crossed, TakesAChoiceFromOneParentEvenOnTheLine) {
  const std::vector<hyp::Gene> space = {real(0, 1), categorical({"a", "b", "c", "d"})};
  Rng rng(3);
  for (int i = 0; i < 500; ++i) {
    const VectorXd child = crossed(space, VectorXd{{0.2, 0}}, VectorXd{{0.6, 1}}, rng);
    EXPECT_TRUE(child[1] == 0 || child[1] == 1);
  }
}

TEST(Perturbed, MovesOneGeneAtLeast) {
  const std::vector<hyp::Gene> space = {real(0, 1), integer(0, 9, 0), categorical({"a", "b", "c"})};
  const VectorXd point = point_of(space, {0.5, 4, 1});
  Rng rng(4);
  for (int i = 0; i < 300; ++i) {
    const VectorXd child = perturbed(space, point, 0, 0.001, rng);
    EXPECT_EQ((child.array() != point.array()).count(), 1);
  }
}

TEST(Perturbed, StaysInTheCubeAndOnValues) {
  const std::vector<hyp::Gene> space = {real(0, 1), logarithmic(1e-3, 1, 1), integer(0, 9, 0),
                                        categorical({"a", "b", "c"}), real(5, 5, 5)};
  Rng rng(5);
  VectorXd point = point_of(space, {0, 1e-3, 9, 2, 5});
  for (int i = 0; i < 1000; ++i) {
    point = perturbed(space, point, 0.5, 0.3, rng);
    EXPECT_GE(point.minCoeff(), 0);
    EXPECT_LE(point.maxCoeff(), 1);
    for (std::size_t g = 0; g < space.size(); ++g) {
      const double unit = point[static_cast<Eigen::Index>(g)];
      EXPECT_EQ(snapped(space[g], unit), unit);
    }
  }
}

TEST(Perturbed, MovesAnIntegerByAValueHoweverSmallTheStep) {
  const std::vector<hyp::Gene> space = {integer(0, 9, 0)};
  Rng rng(6);
  for (int i = 0; i < 100; ++i) {
    const VectorXd child = perturbed(space, point_of(space, {4}), 1, 1e-6, rng);
    EXPECT_THAT(genes_at(space, child)[0], testing::AnyOf(3, 5));
  }
}

TEST(Perturbed, MovesAnIntegerThatStandsAtABound) {
  const std::vector<hyp::Gene> space = {integer(0, 1, 0)};
  Rng rng(3);
  for (int i = 0; i < 50; ++i) {
    const double bound = i % 2;
    EXPECT_EQ(perturbed(space, VectorXd::Constant(1, bound), 1, 0.1, rng)[0], 1 - bound);
  }
}

TEST(Perturbed, MovesAGeneThatStandsAt0) {
  const std::vector<hyp::Gene> space = {real(0, 45)};
  Rng rng(7);
  EXPECT_GT(perturbed(space, VectorXd::Zero(1), 1, 0.1, rng)[0], 0);
}

TEST(Perturbed, TakesStepsOfTheSizeThatIsAskedFor) {
  const std::vector space(1, real(0, 1));
  Rng rng(8);
  std::vector<double> steps;
  for (int i = 0; i < 4001; ++i) {
    steps.push_back(std::abs(perturbed(space, VectorXd::Constant(1, 0.5), 1, 0.01, rng)[0] - 0.5));
  }
  std::nth_element(steps.begin(), steps.begin() + 2000, steps.end());
  EXPECT_NEAR(steps[2000], 0.0060, 0.0006);  // near the median of |N(0, 1)|, 0.67 of a step
}

TEST(Redrawn, DrawsAGeneOrTwoAnew) {
  const std::vector space(8, real(0, 1));
  const VectorXd point = VectorXd::Constant(8, 0.5);
  Rng rng(7);
  int two = 0, low = 0, moved = 0;
  for (int i = 0; i < 4000; ++i) {
    const VectorXd child = redrawn(space, point, rng);
    const auto changed = (child.array() != 0.5).count();
    ASSERT_GE(changed, 1);
    ASSERT_LE(changed, 2);
    two += changed == 2;
    moved += static_cast<int>(changed);
    low += static_cast<int>((child.array() < 0.25).count());
  }
  EXPECT_NEAR(two, 4000 * 0.5 * 7 / 8, 120);
  EXPECT_NEAR(low, moved * 0.25, 160);
}

TEST(Redrawn, StaysOnTheValuesOfTheGene) {
  const std::vector space = {integer(0, 4, 0), categorical({"a", "b", "c"})};
  Rng rng(8);
  for (int i = 0; i < 100; ++i) {
    const VectorXd child = redrawn(space, VectorXd::Zero(2), rng);
    for (std::size_t g = 0; g < 2; ++g) {
      const double unit = child[static_cast<Eigen::Index>(g)];
      EXPECT_EQ(unit, snapped(space[g], unit));
    }
  }
}

}  // namespace
}  // namespace evolve::ga

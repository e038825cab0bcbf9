#include "results/scatter.hpp"

#include <gtest/gtest.h>

namespace evolve::results {
namespace {

TEST(Density, IsOneForTheMostCrowded) {
  EXPECT_EQ(density({0.5}, {0.5}), (std::vector<double>{1}));
  EXPECT_EQ(density({0.2, 0.8}, {0.2, 0.8}), (std::vector<double>{1, 1}));
  EXPECT_TRUE(density({}, {}).empty());
}

TEST(Density, CountsTheNeighbours) {
  const auto result = density({0.2, 0.2, 0.2, 0.8}, {0.5, 0.5, 0.5, 0.5});
  EXPECT_EQ(result[0], 1);
  EXPECT_NEAR(result[3], 1.0 / 3, 1e-12);
}

TEST(Density, TakesPointsOnTheEdge) {
  const auto result = density({0, 1, 1.0000001, -1e-9}, {0, 1, 1, 0});
  for (const double value : result) EXPECT_EQ(value, 1);
}

TEST(Distinct, KeepsTheFirstOfThoseThatCoverEachOther) {
  EXPECT_EQ(distinct({0.5, 0.5001, 0.6, 0.5}, {0.5, 0.5, 0.5, 0.6}, 100, 100),
            (std::vector<std::size_t>{0, 2, 3}));
  EXPECT_TRUE(distinct({}, {}, 100, 100).empty());
}

}  // namespace
}  // namespace evolve::results

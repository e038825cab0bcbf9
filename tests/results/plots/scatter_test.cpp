#include "results/plots/scatter.hpp"

#include <gtest/gtest.h>

namespace evolve::results {
namespace {

std::vector<std::size_t> indices(const std::vector<Dot>& dots) {
  std::vector<std::size_t> result;
  for (const Dot& dot : dots) result.push_back(dot.index);
  return result;
}

TEST(VisibleDots, HaveADensityOfOneWhereTheyAreMostCrowded) {
  const auto one = visible_dots({0.5}, {0.5}, 100, 100);
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].density, 1);
  for (const Dot& dot : visible_dots({0.2, 0.8}, {0.2, 0.8}, 100, 100)) EXPECT_EQ(dot.density, 1);
  EXPECT_TRUE(visible_dots({}, {}, 100, 100).empty());
}

TEST(VisibleDots, LieOnTopWhereTheyAreCrowded) {
  const auto dots = visible_dots({0.2, 0.201, 0.8, 0.202}, {0.5, 0.5, 0.5, 0.5}, 1000, 1000);
  EXPECT_EQ(indices(dots), (std::vector<std::size_t>{2, 0, 1, 3}));
  EXPECT_NEAR(dots[0].density, 1.0 / 3, 1e-12);
  EXPECT_EQ(dots[3].density, 1);
}

TEST(VisibleDots, MayLieOnTheEdge) {
  const auto dots = visible_dots({0, 1, -1e-9}, {0, 1, 0}, 1000, 1000);
  EXPECT_EQ(indices(dots), (std::vector<std::size_t>{1, 0}));
  for (const Dot& dot : dots) EXPECT_GT(dot.density, 0);
}

TEST(VisibleDots, AreTheFirstOfThoseThatCoverEachOther) {
  EXPECT_EQ(indices(visible_dots({0.1, 0.1001, 0.5, 0.9}, {0.5, 0.5, 0.5, 0.5}, 100, 100)),
            (std::vector<std::size_t>{2, 3, 0}));
}

}  // namespace
}  // namespace evolve::results

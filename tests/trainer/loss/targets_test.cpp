#include "trainer/loss/targets.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evolve::trainer {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatEq;

/// (x, y, anchor) of each match.
std::vector<std::array<std::int64_t, 3>> cells(const std::vector<Match>& matches) {
  std::vector<std::array<std::int64_t, 3>> result;
  for (const Match& m : matches) result.push_back({m.x, m.y, m.anchor});
  return result;
}

using Cell = std::array<std::int64_t, 3>;
const std::vector<std::array<float, 2>> one_anchor{{1, 1}};

TEST(Targets, TakesTheOwnCellAndTheTwoNearestNeighbours) {
  // Centre (4.3, 2.6) in an 8 x 8 map: left of the middle, below it.
  const Target target{3, 1, 4.3F / 8, 2.6F / 8, 1.F / 8, 1.F / 8};
  const auto matches = assign({target}, one_anchor, {8, 8}, 4);
  EXPECT_THAT(cells(matches), ElementsAre(Cell{4, 2, 0}, Cell{3, 2, 0}, Cell{4, 3, 0}));
  EXPECT_EQ(matches[0].image, 3);
  EXPECT_EQ(matches[0].cls, 1);
  EXPECT_THAT(matches[1].box, ElementsAre(FloatEq(1.3F), FloatEq(0.6F), FloatEq(1), FloatEq(1)));
  EXPECT_FLOAT_EQ(matches[2].box[1], -0.4F);
}

TEST(Targets, HasNoNeighbourBeyondTheBorder) {
  const Target corner{0, 0, 0.2F / 8, 7.8F / 8, 1.F / 8, 1.F / 8};
  EXPECT_THAT(cells(assign({corner}, one_anchor, {8, 8}, 4)), ElementsAre(Cell{0, 7, 0}));
}

TEST(Targets, HasNoNeighbourForACentreInTheMiddle) {
  const Target middle{0, 0, 3.5F / 8, 3.5F / 8, 1.F / 8, 1.F / 8};
  EXPECT_EQ(assign({middle}, one_anchor, {8, 8}, 4).size(), 1u);
}

TEST(Targets, TakesEveryAnchorWithinTheRatio) {
  const std::vector<std::array<float, 2>> anchors{{1, 1}, {2, 8.1F}, {3.9F, 3.9F}};
  const Target target{0, 0, 3.5F / 8, 3.5F / 8, 1.F / 8, 2.F / 8};
  EXPECT_THAT(cells(assign({target}, anchors, {8, 8}, 4)),
              ElementsAre(Cell{3, 3, 0}, Cell{3, 3, 2}));
  EXPECT_THAT(cells(assign({target}, anchors, {8, 8}, 2.5F)), ElementsAre(Cell{3, 3, 0}));
}

TEST(Targets, IgnoresAnObjectWithoutSize) {
  EXPECT_TRUE(assign({{0, 0, 0.5F, 0.5F, 0, 0.1F}}, one_anchor, {8, 8}, 4).empty());
}

TEST(Targets, KeepsACentreOnTheFarBorderInsideTheMap) {
  const Target border{0, 0, 1, 1, 1.F / 8, 1.F / 8};
  EXPECT_THAT(cells(assign({border}, one_anchor, {8, 8}, 4)),
              ElementsAre(Cell{7, 7, 0}, Cell{7, 7, 0}, Cell{7, 7, 0}));
}

TEST(Targets, OrdersByNeighbourThenAnchorThenTarget) {
  const std::vector<std::array<float, 2>> anchors{{1, 1}, {2, 2}};
  const Target first{0, 0, 2.3F / 8, 2.5F / 8, 1.F / 8, 1.F / 8};
  const Target second{1, 0, 5.5F / 8, 5.5F / 8, 1.F / 8, 1.F / 8};
  EXPECT_THAT(cells(assign({first, second}, anchors, {8, 8}, 4)),
              ElementsAre(Cell{2, 2, 0}, Cell{5, 5, 0}, Cell{2, 2, 1}, Cell{5, 5, 1}, Cell{1, 2, 0},
                          Cell{1, 2, 1}));
}

}  // namespace
}  // namespace evolve::trainer

#include "results/ticks.hpp"

#include <gtest/gtest.h>

namespace evolve::results {
namespace {

std::string labels(const Axis& axis) {
  std::string text;
  for (const auto& tick : axis.ticks) text += tick.second + " ";
  return text;
}

TEST(Axis, HasRoundTicksThatFit) {
  EXPECT_EQ(labels(linear_axis(0, 1, 23)), "0 0.2 0.4 0.6 0.8 1 ");
  EXPECT_EQ(labels(linear_axis(0, 0.001, 23)), "0 0.0005 0.001 ");
  EXPECT_EQ(labels(linear_axis(-45, 45, 23)), "-40 -20 0 20 40 ");
  EXPECT_EQ(labels(linear_axis(0, 299, 100)),
            "0 20 40 60 80 100 120 140 160 180 200 220 240 260 280 300 ");
}

TEST(Axis, WritesLargeNumbersOut) {
  EXPECT_EQ(labels(linear_axis(0, 15000, 40)), "0 5000 10000 15000 ");
}

TEST(Axis, ReachesALittleBeyondItsData) {
  const Axis axis = linear_axis(0, 1, 23);
  EXPECT_DOUBLE_EQ(axis.low, -0.06);
  EXPECT_DOUBLE_EQ(axis.high, 1.06);
  EXPECT_DOUBLE_EQ(place(axis, 0.5), 0.5);
}

TEST(Axis, OfOneValueHasItInTheMiddle) {
  for (const double value : {0.0, 0.3, -7.0, 1e-5}) {
    const Axis axis = linear_axis(value, value, 23);
    EXPECT_LT(axis.low, value);
    EXPECT_NEAR(place(axis, value), 0.5, 1e-12);
    ASSERT_EQ(axis.ticks.size(), 1u);
    EXPECT_EQ(axis.ticks[0].first, value);
  }
}

TEST(Axis, HasDecadesOnALogScale) {
  const Axis axis = log_axis(1e-5, 0.1, 40);
  EXPECT_EQ(labels(axis), "1e-5 0.0001 0.001 0.01 0.1 ");
  EXPECT_TRUE(axis.log);
  EXPECT_NEAR(place(axis, 1e-3), 0.5, 1e-12);
  EXPECT_EQ(labels(log_axis(1e-5, 0.1, 23)), "0.0001 0.01 ");
}

TEST(Axis, HasRoundTicksOnALogScaleWithoutDecades) {
  EXPECT_EQ(labels(log_axis(0.02, 0.05, 23)), "0.02 0.03 0.04 0.05 ");
  EXPECT_LT(log_axis(0.02, 0.02, 23).low, 0.02);
}

TEST(Axis, HasTicksForExtremeRanges) {
  for (const auto& [low, high] :
       {std::pair(0.0, 1e-300), std::pair(-1e300, 1e300), std::pair(1.0, 1.0 + 1e-12)}) {
    EXPECT_LE(linear_axis(low, high, 23).ticks.size(), 12u);
  }
}

TEST(Axis, OfCountsHasWholeNumbersOnly) {
  const Axis axis = counting_axis(0, 3, 100);
  ASSERT_EQ(axis.ticks.size(), 4u);
  EXPECT_EQ(axis.ticks[3].second, "3");
  EXPECT_EQ(axis.low, -0.03);
  EXPECT_EQ(axis.high, 3.03);
  EXPECT_EQ(counting_axis(7, 7, 100).ticks.size(), 1u);
}

}  // namespace
}  // namespace evolve::results

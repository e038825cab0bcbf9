#include "cli/run_screen.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evolve::cli {
namespace {

TEST(RepeatSummary, IsWhatTheRepeatsLost) {
  EXPECT_EQ(repeat_summary({{37, 1, 0.2975, 0.281, {}}, {5, 1, 0.29, 0.2825, {}}}),
            "Trained again with other seeds: trial 37 0.2975 → 0.2810, trial 5 0.2900 → 0.2825; on "
            "average 0.0120 less");
  EXPECT_EQ(repeat_summary({{0, 1, 0.25, 0.5, {}}}),
            "Trained again with other seeds: trial 0 0.2500 → 0.5000; on average 0.2500 more");
}

TEST(RepeatSummary, NamesTheFirstFiveOfMany) {
  const std::vector<results::Repeat> many(7, {1, 1, 0.5, 0.25, {}});
  EXPECT_THAT(repeat_summary(many),
              testing::EndsWith("trial 1 0.5000 → 0.2500, …; on average 0.2500 less"));
}

}  // namespace
}  // namespace evolve::cli

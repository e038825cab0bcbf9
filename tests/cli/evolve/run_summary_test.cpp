#include "cli/evolve/run_summary.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evolve::cli {
namespace {

TEST(FailureSummary, CountsTrialsThatFailedForGoodAndNamesTheFirst) {
  engine::RunState state({.trials = 4, .epochs = 1, .space = {{{.name = "lr0", .high = 1}}}});
  const results::RunDirectory directory{.root = "run"};
  EXPECT_EQ(failure_summary(state, directory), "");
  for (const int number : {0, 1, 2, 3}) {
    const auto trial = *state.next_trial();
    state.apply(results::Started{.trial = trial.number, .hyp = trial.hyp});
    hyp::Outcome outcome{.trial = number, .result = hyp::Completed{{}, 0.25}};
    if (number % 2 == 1)
      outcome.result = hyp::Failed{.message = fmt::format("{} is enough", number),
                                   .log = fmt::format("trials/{}/log", number),
                                   .final = true};
    state.apply(outcome);
  }
  EXPECT_EQ(failure_summary(state, directory),
            "2 of 4 trials failed, the first one with: 1 is enough; see run/trials/1/log");
}

TEST(RepeatSummary, IsWhatTheRepeatsLost) {
  EXPECT_EQ(repeat_summary({{37, 1, 0.2975, 0.281, {}}, {5, 1, 0.29, 0.2825, {}}}),
            "Trained again with other seeds: trial 37 0.2975 → 0.2810, trial 5 0.2900 → 0.2825; on "
            "average 0.0120 less");
  EXPECT_EQ(repeat_summary({{0, 1, 0.25, 0.5, {}}}),
            "Trained again with other seeds: trial 0 0.2500 → 0.5000; on average 0.2500 more");
  EXPECT_EQ(repeat_summary({{0, 1, 0.25, 0.25, {}}}),
            "Trained again with other seeds: trial 0 0.2500 → 0.2500; on average no less and no "
            "more");
}

TEST(RepeatSummary, NamesTheFirstFiveOfMany) {
  const std::vector<results::Repeat> many(7, {1, 1, 0.5, 0.25, {}});
  EXPECT_THAT(repeat_summary(many),
              testing::EndsWith("trial 1 0.5000 → 0.2500, …; on average 0.2500 less"));
}

}  // namespace
}  // namespace evolve::cli

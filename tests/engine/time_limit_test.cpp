#include "engine/time_limit.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "hyp/space.hpp"
#include "tests/engine/run_states.hpp"

namespace evolve::engine {
namespace {

using namespace run_states;
using results::Expected;

/// So many trials have ended, each after ten seconds.
RunState run_of(int trials, results::RunSettings settings = {}) {
  settings.space = hyp::default_space();
  RunState state(settings);
  for (int i = 0; i < trials; ++i) {
    start_next(state);
    auto outcome = completed(i, 0.5 + 0.001 * i);
    outcome.seconds = 10;
    state.apply(outcome);
  }
  return state;
}

TEST(TimeLimit, IsOverWhenItsSecondsAreTaken) {
  EXPECT_FALSE(TimeLimit{100}.is_over(99));
  EXPECT_TRUE(TimeLimit{100}.is_over(100));
  EXPECT_FALSE(TimeLimit{}.is_over(1e9));
}

TEST(TimeLimit, KeepsTheTimeOfTheRepeatsInARow) {
  const auto state = run_of(5, {.repeats = 3});
  // What is under way ends, then two on one slot follow each other, each chosen within a second.
  EXPECT_FALSE(TimeLimit{1000}.is_time_for_repeats(966, state, 2));
  EXPECT_TRUE(TimeLimit{1000}.is_time_for_repeats(967, state, 2));
  EXPECT_FALSE(TimeLimit{1000}.is_time_for_repeats(955, state, 1));
  EXPECT_TRUE(TimeLimit{1000}.is_time_for_repeats(956, state, 1));
  EXPECT_FALSE(TimeLimit{}.is_time_for_repeats(1e9, state, 2));
  EXPECT_FALSE(TimeLimit{1000}.is_time_for_repeats(999, run_of(5), 2)) << "there are none";
  EXPECT_FALSE(TimeLimit{1000}.is_time_for_repeats(999, run_of(0, {.repeats = 3}), 2));
}

TEST(TimeLimit, KeepsAQuarterOfTheTimeForRepeatsAtMost) {
  const auto state = run_of(5, {.repeats = 3});
  EXPECT_FALSE(TimeLimit{100}.is_time_for_repeats(74, state, 2));
  EXPECT_TRUE(TimeLimit{100}.is_time_for_repeats(75, state, 2));
}

TEST(TimeLimit, ExpectsTheEndOfTheSearchWhenItsLastFifthBegins) {
  const auto state = run_of(60);
  EXPECT_EQ(TimeLimit{100}.expected_end(79, state, 2), std::nullopt);
  EXPECT_EQ(TimeLimit{100}.expected_end(80, state, 2), Expected{75});
  EXPECT_EQ(TimeLimit{100}.expected_end(101, state, 2), Expected{60});
  EXPECT_EQ(TimeLimit{}.expected_end(80, state, 2), std::nullopt);
  EXPECT_EQ(TimeLimit{100}.expected_end(90, run_of(44), 2), std::nullopt) << "too few to decide";
  EXPECT_EQ(TimeLimit{100}.expected_end(80, run_of(60, {.trials = 70}), 2), std::nullopt)
      << "its own bound comes before";
}

TEST(TimeLimit, ExpectsTheEndOfTheSearchBeforeTheRepeatsBegin) {
  const auto state = run_of(60, {.repeats = 4});
  EXPECT_EQ(TimeLimit{100}.expected_end(59, state, 2), std::nullopt);
  EXPECT_EQ(TimeLimit{100}.expected_end(60, state, 2), Expected{75});
}

TEST(TimeLimit, ExpectsTheEndByTheTrialsOfThisProcess) {
  const auto state = run_of(60);
  EXPECT_EQ((TimeLimit{100, 50}.expected_end(39, state, 2)), std::nullopt);
  EXPECT_EQ((TimeLimit{100, 50}.expected_end(40, state, 2)), Expected{75});
  EXPECT_EQ((TimeLimit{100, 50}.expected_end(40, state, 11)), std::nullopt)
      << "not one for each slot yet";
  EXPECT_EQ((TimeLimit{100, 60}.expected_end(99, state, 0)), std::nullopt);
}

TEST(TimeLimit, ExpectsTheEndOnceWhereItMakesADifference) {
  auto state = run_of(60);
  state.apply(Expected{75});
  EXPECT_EQ(TimeLimit{100}.expected_end(90, state, 2), std::nullopt);
  state.apply(Expected{});
  EXPECT_EQ(TimeLimit{100}.expected_end(90, state, 2), Expected{67});
  EXPECT_EQ(TimeLimit{100}.expected_end(90, run_of(60, {.search = "classic"}), 2), std::nullopt);
}

// Three sets that were trained for a third of their epochs are one training.
TEST(TimeLimit, CountsPausedTrainingsByTheirEpochs) {
  RunState state(
      {.search = "screened", .max_epochs = 9000, .epochs = 9, .space = hyp::default_space()});
  int epochs = 0, paused = 0;
  for (int i = 0; i < 40; ++i) {
    const auto trial = *state.next_trial();
    const auto at = [&](int epoch) {
      return (0.3 + 0.1 * std::sin(trial.number)) * (0.5 + 0.5 * epoch / 9.0);
    };
    state.apply(started(trial));
    for (const int rung : trial.rungs)
      if (rung > trial.start_epoch)
        state.apply(hyp::Rung{.trial = trial.number, .epoch = rung, .fitness = at(rung)});
    auto outcome = completed(trial.number, at(9));
    const int last = trial.pause_epoch > 0 ? trial.pause_epoch : 9;
    if (last < 9) outcome.result = hyp::Paused{.epoch = last, .fitness = at(last)};
    state.apply(outcome);
    epochs += last - trial.start_epoch;
    paused += last < 9;
  }
  EXPECT_GT(paused, 0);
  EXPECT_EQ(trainings_ended(state), epochs / 9.0);
  EXPECT_EQ(state.evolution().begun(), epochs / 9);
}

}  // namespace
}  // namespace evolve::engine

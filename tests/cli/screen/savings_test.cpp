#include "cli/screen/savings.hpp"

#include <gtest/gtest.h>

#include "tests/engine/trials.hpp"

namespace evolve::cli {
namespace {

TEST(Savings, AreTheEpochsThatPausedTrialsWouldHaveTaken) {
  engine::RunState state(
      {.search = "screened", .max_epochs = 20, .epochs = 9, .space = engine::small_space});
  for (int i = 0; i < 2; ++i) {
    const hyp::Trial trial = *state.next_trial();
    state.apply(engine::started(trial));
    if (i == 0) {
      for (const int rung : trial.rungs)
        state.apply(hyp::Rung{.trial = 0, .epoch = rung, .fitness = 0.4});
      state.apply(engine::completed(0));
    } else {
      state.apply(hyp::Rung{.trial = 1, .epoch = trial.pause_epoch, .fitness = 0.4});
      state.apply(hyp::Outcome{.trial = 1,
                               .result = hyp::Paused{.epoch = trial.pause_epoch, .fitness = 0.4}});
      EXPECT_EQ(trial.pause_epoch, 1);
    }
  }
  EXPECT_EQ(savings(state),
            "1 of 2 trials is still paused, 0 went on after a pause: saved 8 of 18 epochs");
}

}  // namespace
}  // namespace evolve::cli

#include "engine/run_state.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "engine/fold.hpp"
#include "ga/random/rng.hpp"
#include "results/journal.hpp"
#include "tests/engine/run_states.hpp"

namespace evolve::engine {
namespace {

using namespace run_states;
using testing::ElementsAre;
using testing::IsEmpty;

// As version 0.1 wrote it: an attempt that was "never_ready" counted as one of the trial's.
TEST(RunState, OfAJournalOfVersion01GoesOn) {
  const std::string file = EVOLVE_SOURCE_DIR "/tests/engine/journal_0.1.jsonl";
  const auto history = results::read_journal(file);
  auto state = fold(history.run, history.events, file);
  EXPECT_EQ(state.completed().size(), 5U);
  EXPECT_THAT(state.ended(), ElementsAre(1, 0, 2, 4, 3, 5));
  EXPECT_EQ(state.best()->trial, 5);
  EXPECT_EQ(state.evolution().planned(), 9);
  EXPECT_THAT(numbers(state.open()), IsEmpty());
  EXPECT_EQ(state.next_trial()->number, 6);
}

TEST(RunState, HasTheSameNextTrialUntilItStarts) {
  RunState state(settings());
  const auto first = *state.next_trial();
  EXPECT_EQ(state.next_trial()->number, first.number);
  state.apply(started(first));
  EXPECT_EQ(state.next_trial()->number, first.number + 1);
}

TEST(RunState, KnowsNothingUntilATrialHasAFitnessOrEnds) {
  const auto knows_nothing_after = [](const results::Event& event) {
    RunState state(settings());
    start_next(state);
    state.apply(unconfirmed(0));
    EXPECT_TRUE(state.nothing_known());
    state.apply(event);
    return state.nothing_known();
  };
  EXPECT_TRUE(knows_nothing_after(prevented(0)));
  EXPECT_FALSE(knows_nothing_after(hyp::Rung{.trial = 0, .epoch = 1}));
  EXPECT_FALSE(knows_nothing_after(completed(0)));
  EXPECT_FALSE(knows_nothing_after(failed(0, {.final = true})));
  EXPECT_FALSE(knows_nothing_after(hyp::Outcome{.trial = 0, .result = hyp::Paused{.epoch = 1}}));
}

TEST(RunState, KeepsOpenAttemptsWhereTheyAreWhenOthersStart) {
  RunState state(settings());
  start_next(state);
  const auto* first = state.open()[0];
  start_next(state);
  EXPECT_THAT(state.open(), ElementsAre(first, &state.attempt_at(1)));
}

TEST(RunState, HasTheMissingRepeatsOnceTheSearchIsDone) {
  auto run = settings();
  run.trials = 3;  // the repeat is one of them
  run.repeats = 1;
  RunState state(run);
  start_next(state);
  start_next(state);
  state.apply(completed(0, 0.5));
  EXPECT_EQ(state.next_trial(), nullptr);
  state.apply(completed(1, 0.4));
  EXPECT_FALSE(state.finished());
  const auto repeat = *state.next_trial();
  EXPECT_EQ(repeat.number, 0);
  EXPECT_EQ(repeat.repeat, 1);
  EXPECT_EQ(repeat.seed, ga::training_seed(run.seed, ga::seed_number(0, 1)));
  state.apply(results::Repeating{.trial = 0, .repeat = 1});
  EXPECT_THAT(numbers(state.open()), ElementsAre(0));
  auto again = completed(0, 0.3);
  again.repeat = 1;
  state.apply(again);
  EXPECT_THAT(state.open(), IsEmpty());
  EXPECT_EQ(state.next_trial(), nullptr);
  EXPECT_TRUE(state.finished());
}

TEST(RunState, SearchesOnWhereItIsExtendedAndRepeatsTheBestAnew) {
  auto run = settings();
  run.trials = 2;
  run.repeats = 1;
  RunState state(run);
  start_next(state);
  state.apply(completed(0, 0.5));
  EXPECT_EQ(state.next_trial()->repeat, 1);
  state.apply(results::Extended{.generations = 300, .trials = 2, .repeats = 1});
  EXPECT_EQ(state.next_trial()->repeat, 0) << "one of the search comes before what was due";
  start_next(state);
  state.apply(completed(1, 0.4));
  state.apply(results::Repeating{.trial = 0, .repeat = 1});
  auto again = completed(0, 0.3);
  again.repeat = 1;
  state.apply(again);
  EXPECT_TRUE(state.finished());
  state.apply(results::Extended{.generations = 300, .trials = 3, .repeats = 1});
  start_next(state);
  state.apply(completed(2, 0.6));
  ASSERT_TRUE(state.next_trial()) << "of what the search has found since then";
  EXPECT_EQ(state.next_trial()->number, 2);
  EXPECT_EQ(state.next_trial()->repeat, 1);
}

TEST(RunState, CountsAnAttemptThatTheSurroundingsPreventedAsNone) {
  RunState state(settings());
  start_next(state);
  state.apply(prevented(0));
  ASSERT_THAT(numbers(state.open()), ElementsAre(0));
  EXPECT_EQ(state.open()[0]->number, 1);
  EXPECT_EQ(state.surroundings().failures(), 1);
  EXPECT_EQ(state.surroundings().last_failure().message, "gone");
  state.apply(failed(0, {.message = "crash", .final = false}));
  EXPECT_EQ(state.open()[0]->number, 2);
  EXPECT_THAT(state.open()[0]->failed_on, ElementsAre("cpu:0", "cpu:0"));
}

TEST(RunState, HoldsNothingAgainstAnybodyWhereADeviceIsTakenAway) {
  RunState state(settings());
  start_next(state);
  for (int i = 0; i < 20; ++i)
    state.apply(failed(0, {.kind = hyp::FailureKind::device_lost,
                           .final = false,
                           .of_surroundings = true,
                           .excused = true}));
  ASSERT_THAT(numbers(state.open()), ElementsAre(0));
  EXPECT_EQ(state.open()[0]->number, 1);
  EXPECT_THAT(state.open()[0]->failed_on, IsEmpty());
  EXPECT_EQ(state.surroundings().failures(), 0);
  EXPECT_EQ(state.device_losses(0), 0);
}

TEST(RunState, ForgetsTheFailuresOfTheSurroundingsOnceATrialIsTrained) {
  RunState state(settings());
  start_next(state);
  start_next(state);
  state.apply(prevented(0));
  state.apply(completed(1));
  EXPECT_EQ(state.surroundings().failures(), 0);
}

TEST(RunState, DoubtsNoTrialAgainWhereOneEndsThatHadStartedBeforeItFailed) {
  RunState state(settings());
  for (int trial = 0; trial < 2; ++trial) start_next(state);
  state.apply(prevented(0));
  EXPECT_TRUE(state.in_doubt(0));
  start_next(state);
  state.apply(completed(2));
  EXPECT_FALSE(state.in_doubt(0));
  state.apply(completed(1));
  EXPECT_FALSE(state.in_doubt(0)) << "trial 2 has shown that all is in order";
}

TEST(RunState, HoldsATrialWhoseDataNobodyCanLookAtUntilALaterOneIsTrained) {
  RunState state(settings());
  start_next(state);
  start_next(state);
  state.apply(unconfirmed(0));
  EXPECT_THAT(held(state), ElementsAre(0));
  state.apply(completed(1));
  EXPECT_TRUE(state.cleared().empty()) << "trial 1 may have had its data before";
  start_next(state);
  state.apply(completed(2));
  ASSERT_EQ(state.cleared().size(), 1U);
  const auto end = state.cleared()[0];
  EXPECT_EQ(std::get<hyp::Failed>(end.result),
            (hyp::Failed{.kind = hyp::FailureKind::data, .message = "gone", .unconfirmed = true}));
  state.apply(end);
  EXPECT_THAT(numbers(state.open()), IsEmpty());
  EXPECT_THAT(state.ended(), ElementsAre(1, 2, 0));
}

TEST(RunState, ChargesTheEpochsOfAHeldTrialOnceWhenItIsCleared) {
  auto run = settings();
  run.epochs = 9;
  run.max_epochs = 90;
  RunState state(run);
  start_next(state);
  auto failure = unconfirmed(0);
  failure.seconds = 8;
  std::get<hyp::Failed>(failure.result).epoch = 4;
  state.apply(failure);
  start_next(state);
  state.apply(completed(1));
  ASSERT_EQ(state.cleared().size(), 1U);
  const auto end = state.cleared()[0];
  EXPECT_EQ(end.seconds, 0);
  state.apply(end);
  EXPECT_EQ(state.epochs_trained(), 13);
  EXPECT_EQ(state.evolution().epochs_left(), 77);
}

TEST(RunState, TriesATrialAgainWhoseDataWereSeenToBeGone) {
  RunState state(settings());
  start_next(state);
  state.apply(prevented(0, hyp::FailureKind::data));
  EXPECT_THAT(numbers(state.open()), ElementsAre(0));
  EXPECT_THAT(held(state), IsEmpty());
}

TEST(RunState, HoldsATrialNoLongerThatIsTriedAgain) {
  RunState state(settings());
  const auto event = start_next(state);
  state.apply(unconfirmed(0));
  state.apply(event);
  EXPECT_THAT(held(state), IsEmpty());
}

TEST(RunState, HoldsARepeatNoLongerThatIsTriedAgain) {
  auto run = settings();
  run.trials = 2;
  run.repeats = 1;
  RunState state(run);
  start_next(state);
  state.apply(completed(0));
  const results::Repeating repeating{.trial = 0, .repeat = 1};
  state.apply(repeating);
  auto failure = unconfirmed(0);
  failure.repeat = 1;
  state.apply(failure);
  EXPECT_THAT(held(state), ElementsAre(0));
  state.apply(repeating);
  EXPECT_THAT(held(state), IsEmpty());
}

TEST(RunState, RemembersWhatMemoryAllows) {
  RunState state(settings());
  state.apply(results::DeviceLimited{.device = "cuda:0", .trials = 1});
  EXPECT_EQ(state.trial_limits().at("cuda:0"), 1);
}

TEST(RunState, ForgetsWhatMemoryAllowsOnAnotherCard) {
  const results::DevicesChanged first{{"cuda:0", "cuda:1"}, {"GPU-1", "GPU-2"}};
  auto begun = settings();
  begun.slots = first.slots;
  begun.identities = first.identities;
  RunState state(begun);
  for (const auto* device : {"cuda:0", "cuda:1"})
    state.apply(results::DeviceLimited{.device = device, .trials = 1});
  const results::DevicesChanged other{{"cuda:0", "cuda:1"}, {"GPU-3", "GPU-2"}};
  EXPECT_THAT(state.trial_limits_on(first), testing::SizeIs(2));
  EXPECT_THAT(state.trial_limits_on(other), ElementsAre(testing::Pair("cuda:1", 1)));
  state.apply(results::DevicesChanged{{"cuda:1"}, {"GPU-2"}});
  state.apply(other);
  EXPECT_THAT(state.trial_limits(), ElementsAre(testing::Pair("cuda:1", 1)));
}

// Two sets of nearly 1, whose luck goes up too as far as the model knows.
TEST(RunState, ExpectsNoFitnessAbove1OfAMeanOfMaps) {
  for (const auto& [formula, greatest] :
       {std::pair(hyp::Fitness::standard, 1.0), std::pair("100*mAP50", 100.0)}) {
    auto run = settings();
    run.search = "screened";
    run.trials = 12;
    run.fitness = formula;
    RunState state(run);
    for (int trial = 0; trial < 12; ++trial) {
      start_next(state);
      state.apply(completed(trial, greatest * (0.9 + 0.033 * (trial % 4))));
    }
    const auto standing = state.recommendation()->standing;
    ASSERT_TRUE(standing);
    EXPECT_EQ(standing->best.expectation.high == 1, greatest == 1);
    EXPECT_LE(standing->best.expectation.mean, standing->best.expectation.high);
    EXPECT_EQ(standing->best.expectation.high > greatest, greatest > 1);
  }
}

TEST(RunState, RefusesEventsThatContradictEachOther) {
  RunState state(settings(), "journal.jsonl");
  EXPECT_THROW(state.apply(completed(0)), Error);
  EXPECT_THROW(state.apply(hyp::Rung{.trial = 5}), Error);
}

}  // namespace
}  // namespace evolve::engine

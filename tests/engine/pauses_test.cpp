// Trials that are paused, in the fold of a journal.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <ranges>

#include "engine/extension.hpp"
#include "engine/failures.hpp"
#include "engine/fold.hpp"
#include "engine/run_files.hpp"
#include "engine/run_state.hpp"
#include "hyp/trial_folder.hpp"
#include "tests/engine/trials.hpp"
#include "tests/files.hpp"
#include "tests/temporary_folder.hpp"

namespace evolve::engine {
namespace {

using testing::IsEmpty;

// A run whose trainings of 9 epochs are paused, as its journal has it.
results::RunSettings pausing(int max_epochs) {
  return {.seed = 3,
          .search = "screened",
          .max_epochs = max_epochs,
          .epochs = 9,
          .space = hyp::default_space()};
}

/// What a training that ends with so much has after an epoch of 9: more than half at once.
double learnt(double end, int epoch) {
  return end * (0.5 + 0.5 * epoch / 9);
}

/// Trains the next trial as far as it is to be trained; what that leaves in the journal.
std::vector<results::Event> train_next(RunState& state) {
  const auto* trial = state.next_trial();
  if (!trial) return {};
  const auto start = started(*trial);
  const double end = 0.5 - 0.1 * trial->hyp.number("mosaic") + 0.1 * trial->hyp.number("mixup");
  std::vector<results::Event> events = {start};
  for (const int rung : {1, 3}) {
    if (rung <= trial->start_epoch || (trial->pause_epoch > 0 && rung > trial->pause_epoch))
      continue;
    events.push_back(hyp::Rung{
        .trial = trial->number, .epoch = rung, .fitness = learnt(end, rung), .device = "cpu:0"});
  }
  hyp::Outcome outcome = completed(trial->number, end);
  if (const int at = trial->pause_epoch; at > 0)
    outcome.result = hyp::Paused{.epoch = at, .fitness = learnt(end, at)};
  outcome.seconds = 25;
  outcome.prepared = 5;
  events.push_back(outcome);
  for (const auto& event : events) state.apply(event);
  return events;
}

TEST(Pauses, AreFoldedAsTheyWereLived) {
  RunState live(pausing(90));
  std::vector<results::Event> events;
  for (auto more = train_next(live); !more.empty(); more = train_next(live)) {
    events.insert(events.end(), more.begin(), more.end());
    if (events.size() % 7 != 0) continue;  // some of them will do: a fold breeds all again
    for (const int trusted : {0, 1000}) {
      auto again = fold(pausing(90), events, "journal", trusted);
      ASSERT_EQ(again.paused(), live.paused());
      ASSERT_EQ(again.epochs_trained(), live.epochs_trained());
      ASSERT_EQ(again.completed().size(), live.completed().size());
    }
    auto again = fold(pausing(90), events, "journal");
    const auto *one = live.next_trial(), *other = again.next_trial();
    ASSERT_EQ(one == nullptr, other == nullptr);
    if (!one) continue;
    ASSERT_EQ(one->number, other->number);
    ASSERT_EQ(one->hyp, other->hyp);
    ASSERT_EQ(one->start_epoch, other->start_epoch);
    ASSERT_EQ(one->pause_epoch, other->pause_epoch);
  }
  EXPECT_FALSE(live.paused().empty());
  EXPECT_LE(live.epochs_trained(), 90);
  EXPECT_GT(live.epochs_trained(), 81);
  EXPECT_TRUE(live.finished());
  EXPECT_THAT(live.open(), IsEmpty());
}

// What is looked at on the way (is there room for more?) leaves no trace.
TEST(Pauses, OfALaggedRunThatWasExtendedAreFoldedAsTheyWereLived) {
  auto run = pausing(90);
  run.lag = 4;
  RunState live(run);
  std::vector<results::Event> events;
  const auto train_all = [&] {
    while (!live.finished())
      for (auto& event : train_next(live)) events.push_back(std::move(event));
  };
  train_all();
  for (const int max_epochs : {120, 150}) {
    events.push_back(results::Extended{.generations = 300, .max_epochs = max_epochs});
    live.apply(events.back());
    train_all();
  }
  const auto again = fold(run, events, "journal", 1000);
  EXPECT_EQ(again.ended(), live.ended());
  EXPECT_TRUE(again.finished());
}

TEST(Pauses, OfATrialThatIsOpenAreNotLost) {
  RunState state(pausing(90));
  while (state.paused().empty()) train_next(state);
  const hyp::Trial next = *state.next_trial();
  EXPECT_THAT(state.open(), IsEmpty());
  EXPECT_TRUE(next.number < 9);
  state.apply(started(next));
  state.apply(failed(next.number, {.message = "gone", .final = false, .epoch = 1}));
  EXPECT_EQ(state.attempt_at(next.number).trial.pause_epoch, next.pause_epoch);
  EXPECT_EQ(state.attempt_at(next.number).number, 2);
}

TEST(Pauses, CountTheEpochsOfFailedAttemptsToo) {
  RunState state(pausing(90));
  const hyp::Trial first = *state.next_trial();
  state.apply(started(first));
  state.apply(failed(0, {.message = "gone", .final = false, .epoch = 4}));
  EXPECT_EQ(state.epochs_trained(), 4);
  state.apply(completed(0));
  EXPECT_EQ(state.epochs_trained(), 13);
  EXPECT_EQ(state.evolution().epochs_left(), 77);
}

TEST(Pauses, CountTheEpochsOfEachFailedAttempt) {
  RunState state(pausing(90));
  state.apply(started(*state.next_trial()));
  state.apply(failed(0, {.message = "gone", .final = false, .epoch = 4}));
  state.apply(failed(0, {.message = "gone", .final = false, .epoch = 3}, 2));
  state.apply(completed(0));
  EXPECT_EQ(state.epochs_trained(), 16);
  EXPECT_EQ(state.evolution().epochs_left(), 74);
}

// What it took before it was paused is not lost with it.
TEST(Pauses, OfATrialThatGoesOnLoseOnlyWhatItTookSinceThen) {
  RunState state(pausing(94));
  const FailurePolicy policy{.retries = 9};
  int tried_again = 0;
  while (const auto* next = state.next_trial()) {
    const hyp::Trial trial = *next;
    if (trial.start_epoch == 0) {
      train_next(state);
      continue;
    }
    state.apply(started(trial));
    const auto& attempt = state.attempt_at(trial.number);
    const auto spare = state.epochs_to_spare(attempt);
    const workers::NotTrained crash{.trial = trial.number,
                                    .kind = hyp::FailureKind::crash,
                                    .message = "",
                                    .epoch = trial.start_epoch + 1};
    EXPECT_EQ(judge(crash, attempt, state, policy).final, spare < 1) << spare;
    tried_again += spare > 0 && spare <= trial.start_epoch;
    const double end = 0.5 - 0.1 * trial.hyp.number("mosaic") + 0.1 * trial.hyp.number("mixup");
    hyp::Outcome outcome = completed(trial.number, end);
    if (const int at = trial.pause_epoch; at > 0)
      outcome.result = hyp::Paused{.epoch = at, .fitness = learnt(end, at)};
    state.apply(outcome);
  }
  EXPECT_GT(tried_again, 0) << "where all that it took would have been too much";
}

// Which --trial-timeout bounds; without what they prepared.
TEST(Pauses, OfATrialThatGoesOnTookAsLongAsAllItsStepsDid) {
  RunState state(pausing(180));
  std::map<int, int> pauses;
  while (const auto* next = state.next_trial()) {
    const hyp::Trial trial = *next;
    ASSERT_EQ(state.time_before(trial), std::chrono::seconds(20) * pauses[trial.number]);
    train_next(state);
    if (trial.pause_epoch > 0) ++pauses[trial.number];
  }
  EXPECT_EQ(std::ranges::max(std::views::values(pauses)), 2);
}

TEST(Pauses, CostNothingWhereATrialFailsBeforeItGoesOn) {
  RunState state(pausing(90));
  while (state.paused().empty()) train_next(state);
  hyp::Trial next = *state.next_trial();
  while (next.start_epoch == 0) {
    train_next(state);
    next = *state.next_trial();
  }
  const auto trained = state.epochs_trained();
  const double seconds = state.training_seconds();
  state.apply(started(next));
  auto outcome = failed(next.number, {.message = "gone", .final = false});
  outcome.seconds = 60;
  state.apply(outcome);
  EXPECT_EQ(state.epochs_trained(), trained);
  EXPECT_EQ(state.training_seconds(), seconds);
}

// It had no time to.
TEST(Pauses, LeaveNothingOfTrialsThatHadEndedWhenACoordinatorWasKilled) {
  const test::TemporaryFolder folder;
  RunState state(pausing(90));
  while (state.paused().empty()) train_next(state);
  ASSERT_EQ(state.ended(), std::vector{0});
  const int paused = state.paused().begin()->first;
  for (const int trial : {0, paused}) {
    std::filesystem::create_directories(folder / hyp::trial_folder(trial));
    test::write_file(folder / hyp::trial_folder(trial) / hyp::kept_training, "weights");
    test::write_file(folder / hyp::trial_folder(trial) / "paused.pt.tmp", "half");
  }
  RunFiles(results::RunDirectory{folder.path()}, hyp::Fitness::standard,
           {.remove_kept_trainings = true}, state);
  EXPECT_FALSE(std::filesystem::exists(folder / "trials/000000/paused.pt"));
  EXPECT_FALSE(std::filesystem::exists(folder / "trials/000000/paused.pt.tmp"));
  EXPECT_TRUE(std::filesystem::exists(folder / hyp::trial_folder(paused) / hyp::kept_training));
}

TEST(Pauses, LeaveWhatAnOutsideTrainerKeepsToIt) {
  const test::TemporaryFolder folder;
  RunState state(pausing(90));
  RunFiles files(results::RunDirectory{folder.path()}, hyp::Fitness::standard, {}, state);
  std::vector<std::filesystem::path> kept;
  for (auto events = train_next(state); !events.empty(); events = train_next(state)) {
    const auto& outcome = std::get<hyp::Outcome>(events.back());
    kept.push_back(folder / hyp::trial_folder(outcome.trial) / hyp::kept_training);
    std::filesystem::create_directories(kept.back().parent_path());
    test::write_file(kept.back(), "a trainer's own");
    files.update(outcome, state);
  }
  ASSERT_FALSE(state.paused().empty());
  for (const auto& file : kept) EXPECT_TRUE(std::filesystem::exists(file)) << file;
}

TEST(Pauses, LeaveWhatStillWaitsWhenTheEpochsAreSpentToARunThatMayGoOnWithMore) {
  const test::TemporaryFolder folder;
  RunState state(pausing(90));
  RunFiles files(results::RunDirectory{folder.path()}, hyp::Fitness::standard,
                 {.remove_kept_trainings = true}, state);
  const auto kept = [&](int trial) {
    return folder / hyp::trial_folder(trial) / hyp::kept_training;
  };
  for (auto events = train_next(state); !events.empty(); events = train_next(state)) {
    const auto& outcome = std::get<hyp::Outcome>(events.back());
    std::filesystem::create_directories(kept(outcome.trial).parent_path());
    test::write_file(kept(outcome.trial), "weights");
    files.update(outcome, state);
  }
  ASSERT_TRUE(state.finished());
  ASSERT_FALSE(state.paused().empty());
  for (int trial = 0; trial < state.trainings(); ++trial)
    EXPECT_EQ(std::filesystem::exists(kept(trial)),
              state.paused().contains(trial) && !state.evolution().given_up(trial))
        << trial;
}

TEST(Pauses, EndWithMoreEpochsThoughNoMoreTrialsMayBegin) {
  RunState state(pausing(90));
  while (!train_next(state).empty()) {
  }
  ASSERT_TRUE(state.finished());
  const int begun = state.trainings();
  const auto waiting = state.paused().size();
  ASSERT_GT(waiting, 2U);
  EXPECT_EQ(extension(state, {.trials = begun}), std::nullopt);
  const auto more = extension(state, {.trials = begun, .max_epochs = 120});
  EXPECT_EQ(more, (results::Extended{
                      .generations = 300, .trials = begun, .repeats = 0, .max_epochs = 120}));
  state.apply(*more);
  while (!train_next(state).empty()) {
  }
  EXPECT_EQ(state.trainings(), begun);
  EXPECT_LT(state.paused().size(), waiting);
  EXPECT_GT(state.epochs_trained(), 111);
}

// The epochs of repeats count.
TEST(Pauses, EndWithMoreEpochsOfWhichTheRepeatsHaveTakenSome) {
  auto run = pausing(99);
  run.repeats = 2;
  RunState state(run);
  while (const auto* next = state.next_trial()) {
    const hyp::Trial trial = *next;
    if (trial.repeat == 0) {
      train_next(state);
      continue;
    }
    state.apply(results::Repeating{.trial = trial.number, .repeat = trial.repeat});
    auto again = completed(trial.number, 0.4);
    again.repeat = trial.repeat;
    state.apply(again);
  }
  ASSERT_TRUE(state.finished());
  ASSERT_FALSE(state.paused().empty());
  const int begun = state.trainings();
  const auto more = extension(state, {.trials = begun, .max_epochs = 120});
  ASSERT_TRUE(more);
  EXPECT_EQ(more->repeats, 0);
  EXPECT_EQ(more->max_epochs, 120 - 2 * 9);
  state.apply(*more);
  while (!train_next(state).empty()) {
  }
  EXPECT_LE(state.epochs_trained(), 120);
}

TEST(Pauses, LetNothingBeBredAhead) {
  RunState state(pausing(90));
  EXPECT_FALSE(state.breed(4));
}

TEST(Pauses, OfAnEarlierGenerationLeaveTheGenerationWhereItIsWhenTheyGoOn) {
  auto run = pausing(300);
  run.population = 4;
  RunState state(run);
  int before = 0, gone_on_late = 0;
  while (const auto* trial = state.next_trial()) {
    gone_on_late += trial->generation < before;
    train_next(state);
    EXPECT_GE(state.generation(), before);
    before = state.generation();
  }
  EXPECT_GT(gone_on_late, 0);
}

TEST(Pauses, OfATrialThatBeginsAnewCountAllItsEpochsAgain) {
  RunState state(pausing(200));
  while (state.next_trial()->start_epoch == 0) train_next(state);
  const auto trial = *state.next_trial();
  state.apply(started(trial));
  state.apply(failed(trial.number, {.final = false}));
  auto anew = started(trial);
  anew.start_epoch = 0;
  state.apply(anew);
  EXPECT_EQ(state.attempt_at(trial.number).start_epoch(), 0);
  const auto epochs = state.epochs_trained();
  hyp::Outcome end = failed(trial.number, {.final = true, .epoch = 2});
  state.apply(end);
  EXPECT_EQ(state.epochs_trained(), epochs + 2);
}

}  // namespace
}  // namespace evolve::engine

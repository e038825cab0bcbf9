#include "engine/run_state.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "ga/random/rng.hpp"
#include "results/journal.hpp"
#include "tests/engine/trials.hpp"
#include "tests/refusal.hpp"

namespace evolve::engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

results::RunSettings settings(const std::string& search = "classic") {
  return {.seed = 3, .search = search, .trials = 200, .space = hyp::default_space()};
}

/// One of its data that nobody could look at.
hyp::Outcome unconfirmed(int trial) {
  auto outcome = prevented(trial, hyp::FailureKind::data);
  std::get<hyp::Failed>(outcome.result).unconfirmed = true;
  return outcome;
}

/// Starts the next trial.
results::Started start_next(RunState& state) {
  const auto event = started(*state.next_trial());
  state.apply(event);
  return event;
}

std::vector<int> numbers(const std::vector<const Attempt*>& attempts) {
  std::vector<int> numbers;
  for (const auto* attempt : attempts) numbers.push_back(attempt->trial.number);
  return numbers;
}

// A run of `count` trials with two under way at a time, as its journal has it.
std::vector<results::Event> journal_of(const std::string& search, int count) {
  RunState state(settings(search));
  std::vector<results::Event> events;
  std::vector<hyp::Trial> under_way;
  for (int i = 0; i < count; ++i) {
    under_way.push_back(*state.next_trial());
    events.push_back(start_next(state));
    if (under_way.size() < 2) continue;
    const auto& first = under_way.front();
    events.push_back(completed(first.number, 0.5 - 0.1 * first.hyp.number("mosaic")));
    under_way.erase(under_way.begin());
    state.apply(events.back());
  }
  return events;
}

hyp::Hyperparameters& set_of(std::vector<results::Event>& events, int trial) {
  for (auto& event : events) {
    auto* started = std::get_if<results::Started>(&event);
    if (started && started->trial == trial) return started->hyp;
  }
  throw std::logic_error("no such trial");
}

class Fold : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(, Fold, testing::Values("classic", "screened"),
                         [](const auto& search) { return search.param; });

TEST_P(Fold, RebuildsTheRun) {
  const auto events = journal_of(GetParam(), 60);
  const auto longer = journal_of(GetParam(), 61);
  auto state = fold(settings(GetParam()), events, "journal");
  EXPECT_EQ(state.completed().size(), 59U);
  ASSERT_THAT(numbers(state.open()), ElementsAre(59));
  EXPECT_EQ(state.open()[0]->trial.seed, ga::training_seed(3, 59 % ga::rotating_seeds));
  EXPECT_EQ(state.next_trial()->hyp, std::get<results::Started>(longer[longer.size() - 2]).hyp);
}

TEST_P(Fold, RefusesALateTrialThatIsBredDifferentlyNow) {
  auto events = journal_of(GetParam(), 60);
  set_of(events, 60 - bred_again).set("mosaic", 0.123);
  EXPECT_THAT(test::refusal([&] { fold(settings(GetParam()), events, "journal"); }),
              HasSubstr(": trial 40 is bred differently now"));
}

TEST_P(Fold, TakesAnEarlyTrialAsItIsRecorded) {
  auto events = journal_of(GetParam(), 4);
  set_of(events, 3).set("mosaic", 0.123);
  auto state = fold(settings(GetParam()), events, "journal", 0);
  for (int i = 4; i < 4 + bred_again; ++i) events.push_back(start_next(state));
  auto again = fold(settings(GetParam()), events, "journal");
  ASSERT_EQ(again.open().size(), 21U);
  EXPECT_EQ(again.open()[0]->trial.hyp.number("mosaic"), 0.123);
}

TEST_P(Fold, RefusesASetOutsideTheSpace) {
  auto events = journal_of(GetParam(), 60);
  set_of(events, 10).set("mosaic", 1.5);
  EXPECT_THROW(fold(settings(GetParam()), events, "journal"), Error);
}

std::vector<int> held(const RunState& state) {
  std::vector<int> held;
  for (const int number : numbers(state.open()))
    if (state.held(number)) held.push_back(number);
  return held;
}

// What the state says of itself.
auto summary(RunState& state) {
  std::vector<std::pair<int, double>> completed;
  for (const auto& one : state.completed()) completed.emplace_back(one.trial, one.fitness);
  return std::tuple(completed, state.ended(), state.best() ? state.best()->trial : -1,
                    state.start_fitness(), state.generation(), numbers(state.open()), held(state),
                    state.surroundings().failures(), state.surroundings().last_failure().message,
                    state.evolution().asked(), state.finished(), state.trial_limits(),
                    state.repeats().begun(), state.repeats().completed());
}

// A run in which much goes wrong, driven by chance; after every event its journal is folded.
TEST_P(Fold, OfEveryBeginningOfAJournalIsTheStateThatTheRunHadThen) {
  auto run = settings(GetParam());
  run.trials = 40;
  run.population = 10;
  run.repeats = 3;
  RunState live(run);
  std::vector<results::Event> events;
  std::vector<int> under_way;
  ga::Rng rng(7);
  const auto chance = [&](unsigned n) { return static_cast<int>(rng() % n); };
  const auto begun = [](const hyp::Trial& trial) -> results::Event {
    if (trial.repeat == 0) return started(trial);
    return results::Repeating{.trial = trial.number, .repeat = trial.repeat};
  };
  const auto record = [&](const results::Event& event) {
    live.apply(event);
    events.push_back(event);
    if (events.size() % (GetParam() == "classic" ? 1 : 7) != 0) return;
    auto folded = fold(run, events, "journal", 1000);
    ASSERT_EQ(summary(folded), summary(live)) << "after event " << events.size();
  };
  for (int step = 0; step < 400 && !live.finished(); ++step) {
    if (chance(40) == 0) under_way.clear();  // killed and resumed
    auto waiting = live.open();
    std::erase_if(waiting, [&](const Attempt* attempt) {
      const int number = attempt->trial.number;
      const bool others = !under_way.empty() || live.may_have_next_trial();
      return std::ranges::count(under_way, number) > 0 || (others && live.held(number));
    });
    if (under_way.size() < 3 && !waiting.empty()) {
      const auto& trial = waiting[0]->trial;
      under_way.push_back(trial.number);
      record(begun(trial));
      continue;
    }
    if (live.ready() < 2 && chance(4) == 0) {
      const auto bred = live.breed(3);
      if (bred) record(*bred);
    }
    if (under_way.size() < 3 && live.may_have_next_trial()) {
      const auto trial = *live.next_trial();
      under_way.push_back(trial.number);
      record(begun(trial));
      continue;
    }
    if (under_way.empty()) continue;
    const auto at = under_way.begin() + chance(static_cast<unsigned>(under_way.size()));
    const int number = *at;
    under_way.erase(at);
    auto outcome = completed(number, 0.01 * chance(100));
    outcome.repeat = live.attempt_at(number).trial.repeat;
    const int kind = chance(6);
    if (kind == 0) outcome.result = hyp::Failed{.message = "crashed", .final = chance(2) == 0};
    if (kind == 1) outcome.result = std::get<hyp::Failed>(prevented(0).result);
    if (kind == 2 && outcome.repeat == 0)
      outcome.result = std::get<hyp::Failed>(unconfirmed(0).result);
    record(outcome);
    for (const auto& cleared : live.cleared()) record(cleared);
    if (chance(30) == 0) record(results::DeviceLimited{.device = "cuda:0", .trials = 1});
  }
  EXPECT_TRUE(live.finished());
}

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

TEST_P(Fold, StartsWhatWasBredAheadInItsOrder) {
  RunState live(settings(GetParam()));
  std::vector<results::Event> events;
  const auto record = [&](const results::Event& event) {
    events.push_back(event);
    live.apply(event);
  };
  for (int i = 0; i < 30; ++i) {
    record(started(*live.next_trial()));
    record(completed(i, 0.01 * i));
  }
  const auto bred = *live.breed(4);
  ASSERT_EQ(bred.trials.size(), 4U);
  record(bred);
  record(started(*live.next_trial()));
  auto again = fold(settings(GetParam()), events, "journal");
  EXPECT_EQ(again.ready(), 3);
  for (int trial = 31; trial < 34; ++trial) {
    ASSERT_EQ(again.next_trial()->number, trial);
    EXPECT_EQ(again.next_trial()->hyp, bred.trials[static_cast<std::size_t>(trial - 30)].hyp);
    again.apply(started(*again.next_trial()));
  }
  EXPECT_EQ(again.ready(), 0);
  EXPECT_EQ(again.next_trial()->number, 34);
}

TEST_P(Fold, RefusesWhatWasBredAheadDifferently) {
  auto events = journal_of(GetParam(), 60);
  auto live = fold(settings(GetParam()), events, "journal");
  auto bred = *live.breed(2);
  bred.trials[1].hyp.set("mosaic", 0.123);
  events.push_back(bred);
  EXPECT_THAT(test::refusal([&] { fold(settings(GetParam()), events, "journal"); }),
              HasSubstr(": trial 61 is bred differently now"));
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
                           .taken_away = true}));
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

TEST(RunState, RemembersWhatMemoryAllows) {
  RunState state(settings());
  state.apply(results::DeviceLimited{.device = "cuda:0", .trials = 1});
  EXPECT_EQ(state.trial_limits().at("cuda:0"), 1);
}

TEST(RunState, RefusesEventsThatContradictEachOther) {
  RunState state(settings(), "journal.jsonl");
  EXPECT_THROW(state.apply(completed(0)), Error);
  EXPECT_THROW(state.apply(hyp::Rung{.trial = 5}), Error);
}

}  // namespace
}  // namespace evolve::engine

#include "engine/repeats.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "engine/failures.hpp"
#include "engine/fold.hpp"
#include "engine/run_files.hpp"
#include "engine/run_state.hpp"
#include "ga/random/rng.hpp"
#include "hyp/fitness.hpp"
#include "tests/engine/trials.hpp"
#include "tests/files.hpp"
#include "tests/temporary_folder.hpp"

namespace evolve::engine {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

// What a training of `trial` gives: trial 4 is the best, the others are the worse the further off.
double fitness_of(int trial) {
  return 0.5 - 0.02 * std::abs(trial - 4);
}

// Trains what is next, a repeat with this fitness.
void train_next(RunState& state, double (*of_repeat)(int trial) = fitness_of) {
  const auto trial = *state.next_trial();
  const double fitness = trial.repeat > 0 ? of_repeat(trial.number) : fitness_of(trial.number);
  train_one(state, trial, fitness);
}

// Trains all that is to be trained, one at a time, repeats with this fitness; the repeated trials.
std::vector<int> train(RunState& state, double (*of_repeat)(int trial)) {
  std::vector<int> repeated;
  while (const auto* next = state.next_trial()) {
    if (next->repeat > 0) repeated.push_back(next->number);
    train_next(state, of_repeat);
  }
  return repeated;
}

results::RunSettings run_of(const std::string& search, int trials, int repeats) {
  return {.seed = 7,
          .search = search,
          .trials = trials,
          .repeats = repeats,
          .space = hyp::default_space()};
}

TEST(Repeats, WithoutAModelAreOfTheBestTrialsEachAsOften) {
  RunState state(run_of("classic", 14, 4));
  EXPECT_THAT(train(state, fitness_of), ElementsAre(4, 3, 5, 2));
  EXPECT_TRUE(state.finished());
  RunState few(run_of("classic", 8, 5));
  EXPECT_THAT(train(few, fitness_of), ElementsAre(2, 1, 0, 2, 1));
}

TEST(Repeats, TrainTheSameSetWithOtherSeeds) {
  RunState state(run_of("classic", 8, 5));
  train(state, fitness_of);
  const auto& repeats = state.repeats().completed();
  ASSERT_EQ(repeats.size(), 5U);
  EXPECT_EQ(repeats[0], (results::Repeat{2,
                                         ga::training_seed(7, ga::seed_number(2, 1)),
                                         fitness_of(2),
                                         fitness_of(2),
                                         {.map50 = fitness_of(2)}}));
  EXPECT_EQ(repeats[3].seed, ga::training_seed(7, ga::seed_number(2, 2)));
}

// The best one turns out to be luck: then the next ones are looked at.
TEST(Repeats, WithAModelAreWhereItIsInDoubt) {
  RunState state(run_of("screened", 20, 8));
  const auto repeated =
      train(state, [](int trial) { return trial == 4 ? 0.1 : fitness_of(trial); });
  EXPECT_EQ(repeated.size(), 8U);
  const std::map<int, std::ptrdiff_t> of = [&] {
    std::map<int, std::ptrdiff_t> counts;
    for (const int trial : repeated) ++counts[trial];
    return counts;
  }();
  EXPECT_TRUE(of.contains(4));
  EXPECT_GE(of.size(), 2U);
  const auto recommended = state.recommendation();
  ASSERT_TRUE(recommended && recommended->standing);
  EXPECT_NE(state.completed()[recommended->row].trial, 4);
  EXPECT_EQ(state.best()->trial, 4) << "it stays the row of greatest fitness";
}

// What has failed as often as not is not recommended, from then on.
TEST(Repeats, ThatFailChangeWhatIsRecommendedInTheFileToo) {
  const test::TemporaryFolder folder;
  RunState state(run_of("screened", 20, 8));
  while (state.next_trial()->repeat == 0) train_next(state);
  RunFiles files(results::RunDirectory{folder.path()}, hyp::Fitness::standard, {}, state);
  const auto file = [&] { return test::read_file(folder / "hyp_evolved.yaml"); };
  const auto before = file();
  const auto row = state.recommendation()->row;
  const int trial = state.completed()[row].trial;
  for (int repeat = 1; repeat <= 2; ++repeat) {
    state.apply(results::Repeating{.trial = trial, .repeat = repeat});
    const hyp::Outcome diverged{
        .trial = trial,
        .repeat = repeat,
        .result = hyp::Failed{.kind = hyp::FailureKind::diverged, .message = "NaN", .final = true}};
    state.apply(diverged);
    files.update(diverged, state);
  }
  ASSERT_NE(state.recommendation()->row, row);
  EXPECT_NE(file(), before);
  const auto followed = file();
  files.rewrite(state);
  EXPECT_EQ(file(), followed);
}

// A run whose search is done and whose only repeat, of trial 0, has begun.
RunState in_its_repeat() {
  RunState state(run_of("classic", 3, 1));
  for (int trial = 0; trial < 2; ++trial) {
    state.apply(results::Started{.trial = trial, .hyp = state.next_trial()->hyp});
    state.apply(hyp::Outcome{.trial = trial, .result = hyp::Completed{{}, 0.5}});
  }
  state.apply(results::Repeating{.trial = 0, .repeat = 1});
  return state;
}

TEST(Repeats, AreTriedAgainAsLongAsTheBudgetOfEpochsAllows) {
  auto settings = run_of("classic", 0, 2);
  settings.trials.reset();
  settings.epochs = 9;
  settings.max_epochs = 53;  // three trainings, two repeats, and eight epochs
  RunState state(settings);
  while (state.next_trial()->repeat == 0) {
    const auto trial = *state.next_trial();
    state.apply(results::Started{.trial = trial.number, .hyp = trial.hyp});
    state.apply(hyp::Outcome{.trial = trial.number, .result = hyp::Completed{{}, 0.5}});
  }
  EXPECT_EQ(state.epochs_trained(), 27);
  const int trial = state.next_trial()->number;
  state.apply(results::Repeating{.trial = trial, .repeat = 1});
  const auto crash_after_8_epochs = [&] {
    const workers::NotTrained crash{
        .trial = trial, .kind = hyp::FailureKind::crash, .message = "", .epoch = 8};
    const auto failed = judge(crash, state.attempt_at(trial), state, {.retries = 9});
    state.apply(hyp::Outcome{.trial = trial, .repeat = 1, .result = failed});
    return failed.final;
  };
  EXPECT_FALSE(crash_after_8_epochs());
  EXPECT_TRUE(crash_after_8_epochs()) << "a third attempt would be epochs 54 to 61";
}

TEST(Repeats, HaveLostTheirFailedAttemptsEpochsToASearchThatGoesOn) {
  auto settings = run_of("classic", 0, 1);
  settings.trials.reset();
  settings.epochs = 9;
  settings.max_epochs = 44;  // three trainings, a repeat, and eight epochs
  RunState state(settings);
  for (int trial = 0; trial < 3; ++trial) {
    state.apply(results::Started{.trial = trial, .hyp = state.next_trial()->hyp});
    state.apply(hyp::Outcome{.trial = trial, .result = hyp::Completed{{}, 0.5}});
  }
  const int trial = state.next_trial()->number;
  state.apply(results::Repeating{.trial = trial, .repeat = 1});
  state.apply(
      hyp::Outcome{.trial = trial, .repeat = 1, .result = hyp::Failed{.final = false, .epoch = 8}});
  state.apply(hyp::Outcome{.trial = trial, .repeat = 1, .result = hyp::Completed{{}, 0.5}});
  EXPECT_TRUE(state.finished());
  state.apply(results::Extended{.generations = 300, .repeats = 1, .max_epochs = 45});
  train(state, fitness_of);
  EXPECT_EQ(state.most_epochs(), 45 + 2 * 9);
  EXPECT_EQ(state.epochs_trained(), 44 + 2 * 9) << "a trial and a repeat";
}

TEST(Repeats, DoNotBeginAnewWhereALargerBudgetLetsNoFurtherTrialBegin) {
  RunState state(run_of("classic", 8, 3));
  train(state, fitness_of);
  state.apply(results::Extended{.generations = 300, .trials = 5, .max_epochs = 20});
  EXPECT_TRUE(state.finished());
}

TEST(Repeats, AreTriedAgainElsewhereUntilTheyFailForGood) {
  RunState state = in_its_repeat();
  hyp::Outcome failure{
      .trial = 0, .device = "cpu:1", .repeat = 1, .result = hyp::Failed{.final = false}};
  state.apply(failure);
  ASSERT_EQ(state.open().size(), 1U);
  EXPECT_EQ(state.open()[0]->number, 2);
  EXPECT_THAT(state.open()[0]->failed_on, ElementsAre("cpu:1"));
  failure.attempt = 2;
  std::get<hyp::Failed>(failure.result).final = true;
  state.apply(failure);
  EXPECT_TRUE(state.finished());
  EXPECT_TRUE(state.repeats().completed().empty());
  EXPECT_FALSE(state.first_failure()) << "no trial failed";
}

TEST(Repeats, ThatTheSurroundingsPreventedAreNoAttempts) {
  RunState state = in_its_repeat();
  state.apply(hyp::Outcome{
      .trial = 0, .repeat = 1, .result = hyp::Failed{.final = false, .of_surroundings = true}});
  EXPECT_EQ(state.open()[0]->number, 1);
}

TEST(Repeats, OfOtherNumbersAreWantedLater) {
  RunState state(run_of("classic", 10, 1));
  EXPECT_THAT(train(state, fitness_of), ElementsAre(4));
  state.apply(results::Extended{.generations = 300, .trials = 9, .repeats = 3});
  EXPECT_FALSE(state.finished());
  EXPECT_THAT(train(state, fitness_of), UnorderedElementsAre(3, 5));
}

results::RunSettings lagged(int trials, int repeats, int lag) {
  auto run = run_of("screened", trials, repeats);
  run.lag = lag;
  return run;
}

hyp::Outcome end_of(const hyp::Trial& trial) {
  const double luck = static_cast<double>(trial.seed % 1000) / 20'000;
  const double fitness = fitness_of(trial.number) + luck;
  return {.trial = trial.number,
          .repeat = trial.repeat,
          .result = hyp::Completed{{.map50 = fitness}, fitness}};
}

// Killed after each event, and with up to three trainings under way of which the latest ends first,
// a run has the repeats of one that trains one after the other.
TEST(Repeats, WithALagAreTheSameWhateverIsUnderWayAndKilled) {
  RunState one(lagged(18, 6, 3));
  const auto begin = [](RunState& state, std::vector<int>& repeated) {
    const auto trial = *state.next_trial();
    if (trial.repeat > 0) repeated.push_back(trial.number);
    return trial.repeat > 0
               ? results::Event(results::Repeating{.trial = trial.number, .repeat = trial.repeat})
               : results::Event(results::Started{.trial = trial.number, .hyp = trial.hyp});
  };
  std::vector<int> expected;
  while (one.next_trial()) {
    one.apply(begin(one, expected));
    one.apply(end_of(one.open()[0]->trial));
  }
  ASSERT_EQ(expected.size(), 6U);

  RunState three(lagged(18, 6, 3));
  std::vector<results::Event> events;
  std::vector<int> repeated;
  const auto record = [&](const results::Event& event) {
    events.push_back(event);
    three.apply(event);
    auto again = fold(lagged(18, 6, 3), events, "journal");
    const auto *next = three.next_trial(), *same = again.next_trial();
    ASSERT_EQ(next == nullptr, same == nullptr);
    if (!next) return;
    ASSERT_EQ(std::pair(next->number, next->repeat), std::pair(same->number, same->repeat));
    ASSERT_EQ(next->hyp, same->hyp);
  };
  while (!three.finished()) {
    if (three.open().size() < 3 && three.next_trial()) {
      record(begin(three, repeated));
    } else {
      record(end_of(three.open().back()->trial));
    }
  }
  EXPECT_EQ(repeated, expected);
  EXPECT_EQ(three.recommendation()->standing->best.expectation.mean,
            one.recommendation()->standing->best.expectation.mean);
}

// Earlier versions chose repeats from all that had ended, and let a search that went on know those.
TEST(Repeats, OfAnEarlierVersionWithALagAreTakenAsTheyAreRecorded) {
  const auto run = lagged(12, 2, 4);
  RunState state(run);
  std::vector<results::Event> events;
  const auto record = [&](const results::Event& event) {
    events.push_back(event);
    state.apply(event);
  };
  for (int i = 0; i < 10; ++i) {
    const auto trial = *state.next_trial();
    record(results::Started{.trial = trial.number, .hyp = trial.hyp});
    record(end_of(trial));
  }
  for (const int trial : {9, 8}) record(results::Repeating{.trial = trial, .repeat = 1});
  record(end_of({.number = 8, .repeat = 1}));
  record(results::Extended{.generations = 300, .trials = 20});
  auto hyp = state.evolution().hyp(1);
  hyp.set("mosaic", 0.123);
  record(results::Started{.trial = 10, .hyp = hyp});
  record(end_of({.number = 9, .repeat = 1}));
  auto again = fold(run, events, "journal");
  EXPECT_EQ(again.open().size(), 1U);
  EXPECT_EQ(again.next_trial()->number, 11);
}

TEST(Repeats, HaveNotEndedWhileTheyAreUnderWay) {
  RunState state = in_its_repeat();
  EXPECT_EQ(state.repeats_ended(), 0);
  state.apply(hyp::Outcome{.trial = 0, .repeat = 1, .result = hyp::Completed{{}, 0.5}});
  EXPECT_EQ(state.repeats_ended(), 1);
}

}  // namespace
}  // namespace evolve::engine

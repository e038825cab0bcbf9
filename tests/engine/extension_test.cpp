#include "engine/extension.hpp"

#include <gtest/gtest.h>

#include "hyp/space.hpp"
#include "tests/engine/trials.hpp"
#include "tests/refusal.hpp"

namespace evolve::engine {
namespace {

// The run is trained to its end, or for `most` trainings more.
void train(RunState& state, int most = 1000) {
  while (const auto* next = most-- > 0 ? state.next_trial() : nullptr) {
    const auto trial = *next;
    train_one(state, trial, 0.5);
  }
}

// A run of trials of 2 epochs that was trained to its end, or as far as `most` trainings.
RunState run(const results::RunSettings& bounds, int most = 1000) {
  auto settings = bounds;
  settings.search = "classic";
  settings.epochs = 2;
  settings.space = hyp::default_space();
  RunState state(settings);
  train(state, most);
  return state;
}

using results::Extended;

TEST(Extension, IsNothingWhereNoOtherBoundIsGiven) {
  const auto state = run({.population = 4, .generations = 2});
  EXPECT_EQ(extension(state, {}), std::nullopt);
  EXPECT_EQ(extension(state, {.generations = 2}), std::nullopt);
}

// Its search is ended for its repeats; these are trained, or as many of them.
RunState with_early_repeats(const results::RunSettings& bounds, int trials, int repeats = 1000) {
  auto state = run(bounds, trials);
  state.apply(*end_for_repeats(state));
  train(state, repeats);
  EXPECT_EQ(state.evolution().asked(), trials) << "repeats alone were trained";
  return state;
}

TEST(Extension, EndsASearchForItsRepeatsAndBringsItsBoundsBack) {
  for (const results::RunSettings& bounds :
       {results::RunSettings{.population = 4, .generations = 5, .repeats = 3},
        results::RunSettings{.population = 4, .generations = 5, .trials = 18, .repeats = 3},
        results::RunSettings{.population = 4, .generations = 5, .max_epochs = 36, .repeats = 3}}) {
    const auto before = bounds_of(run(bounds, 6), /*trials_given=*/true);
    auto state = with_early_repeats(bounds, 6);
    EXPECT_EQ(end_for_repeats(state), std::nullopt);
    EXPECT_TRUE(state.finished());
    EXPECT_TRUE(state.ended_for_repeats());
    EXPECT_EQ(state.trainings(), 9);

    state.apply(*extension(state, {}));
    EXPECT_FALSE(state.finished());
    EXPECT_FALSE(state.ended_for_repeats());
    const auto after = bounds_of(state, /*trials_given=*/true);
    EXPECT_EQ(after.trials, before.trials);
    EXPECT_EQ(after.generations, before.generations);
    EXPECT_EQ(after.max_epochs, before.max_epochs);
    EXPECT_EQ(after.repeats, before.repeats);
  }
}

TEST(Extension, AfterEarlyRepeatsSharesWhatIsLeftBetweenTrialsAndRepeats) {
  const results::RunSettings by_trials{
      .population = 4, .generations = 5, .trials = 14, .repeats = 5};
  const auto state = with_early_repeats(by_trials, 5);  // 4 of 14 are left
  EXPECT_EQ(extension(state, {}),
            (Extended{.generations = 5, .trials = 7, .repeats = 2, .wished_repeats = 5}));
  EXPECT_EQ(extension(state, {.trials = 14}), extension(state, {}));
  EXPECT_EQ(extension(state, {.trials = 15}),
            (Extended{.generations = 5, .trials = 8, .repeats = 2, .wished_repeats = 5}));
  EXPECT_EQ(extension(state, {.repeats = 1}),
            (Extended{.generations = 5, .trials = 8, .repeats = 1}));
  EXPECT_EQ(test::refusal([&] { extension(state, {.repeats = 4}); }),
            "--repeats 4: with 4 trainings to come none is left for a new trial; repeat fewer, or "
            "let there be more");

  // A limit came before all repeats: those that are owed are of the trainings that are left.
  const results::RunSettings few{.population = 4, .generations = 5, .trials = 10, .repeats = 5};
  EXPECT_EQ(extension(with_early_repeats(few, 3, 2), {}),
            (Extended{.generations = 5, .trials = 6, .repeats = 2, .wished_repeats = 5}));

  const results::RunSettings by_epochs{
      .population = 4, .generations = 5, .max_epochs = 24, .repeats = 5};  // 12 trainings
  EXPECT_EQ(
      extension(with_early_repeats(by_epochs, 5), {}),
      (Extended{
          .generations = 5, .trials = 14, .repeats = 1, .wished_repeats = 5, .max_epochs = 12}));
}

TEST(Extension, AfterEarlyRepeatsOfARunWithNoTrainingLeftIsItsEnd) {
  const results::RunSettings bounds{.population = 4, .generations = 5, .trials = 10, .repeats = 5};
  auto state = with_early_repeats(bounds, 4, 4);
  state.apply(*extension(state, {.trials = 9}));
  EXPECT_FALSE(state.ended_for_repeats());
  EXPECT_FALSE(state.finished()) << "a repeat is owed";
  state = with_early_repeats(bounds, 4);
  EXPECT_EQ(
      test::refusal([&] { extension(state, {.trials = 9, .repeats = 7}); }),
      "--repeats 2: with 0 trainings to come there are too few for them; repeat fewer, or let "
      "there be more");
  state.apply(*extension(state, {.trials = 9}));
  EXPECT_TRUE(state.finished());
  EXPECT_EQ(extension(state, {}), std::nullopt);
}

TEST(Extension, OfAFinishedRunTakesOnlyMore) {
  const auto state = run({.population = 4, .generations = 2});
  ASSERT_TRUE(state.finished());
  EXPECT_EQ(extension(state, {.generations = 3}), (Extended{.generations = 3, .repeats = 0}));
  EXPECT_EQ(extension(state, {.generations = 1}), std::nullopt);
  EXPECT_EQ(extension(state, {.trials = 8}), std::nullopt);
}

TEST(Extension, ByTrialsHasTheGenerationsThatTheseNeed) {
  const auto state = run({.population = 4, .generations = 2});
  EXPECT_EQ(extension(state, {.trials = 10}),
            (Extended{.generations = 3, .trials = 10, .repeats = 0}));
}

TEST(Extension, ByGenerationsForgetsTheTrials) {
  const auto state = run({.population = 4, .generations = 2, .trials = 6});
  EXPECT_EQ(extension(state, {.generations = 4}), (Extended{.generations = 4, .repeats = 0}));
}

TEST(Extension, OfARunThatIsNotFinishedTakesLessToo) {
  const auto state = run({.population = 4, .generations = 5}, 3);
  ASSERT_FALSE(state.finished());
  EXPECT_EQ(extension(state, {.generations = 2}), (Extended{.generations = 2, .repeats = 0}));
}

TEST(Extension, OfARunThatIsNotFinishedKeepsToItsTrialsWhateverTheGenerationsAre) {
  const auto state = run({.population = 4, .generations = 5, .trials = 10}, 3);
  EXPECT_EQ(extension(state, {.generations = 2}), std::nullopt);
  EXPECT_EQ(extension(state, {.generations = 50}), std::nullopt);
  const auto with_repeats = run({.population = 4, .generations = 5, .repeats = 2}, 3);
  EXPECT_EQ(extension(with_repeats, {.generations = 6}),
            (Extended{.generations = 6, .trials = 22, .repeats = 2}));
}

TEST(Extension, KeepsTrialsForTheRepeats) {
  const auto state = run({.population = 4, .generations = 5, .trials = 10}, 3);
  EXPECT_EQ(extension(state, {.repeats = 4}),
            (Extended{.generations = 5, .trials = 6, .repeats = 4}));
  EXPECT_EQ(test::refusal([&] { extension(state, {.repeats = 10}); }),
            "--repeats 10: with 10 trials no trial is left for the search; repeat fewer, or give "
            "more --trials");
}

TEST(Extension, OfARunThatIsNotFinishedHasItsBoundsAsTheyWereGiven) {
  const auto by_trials = run({.population = 4, .generations = 5, .trials = 10, .repeats = 2}, 3);
  EXPECT_EQ(extension(by_trials, {.repeats = 4}),
            (Extended{.generations = 5, .trials = 6, .repeats = 4}));
  const auto by_epochs =
      run({.population = 4, .generations = 5, .max_epochs = 20, .repeats = 2}, 3);
  EXPECT_EQ(extension(by_epochs, {.repeats = 4}),
            (Extended{.generations = 5, .trials = 16, .repeats = 4, .max_epochs = 12}));
}

TEST(Extension, ByEpochsHasAWholeTrainingMore) {
  const auto state = run({.population = 4, .generations = 5, .max_epochs = 20});
  ASSERT_TRUE(state.finished());
  ASSERT_EQ(state.epochs_trained(), 20);
  EXPECT_EQ(extension(state, {.max_epochs = 21}), std::nullopt);
  EXPECT_EQ(extension(state, {.max_epochs = 22}),
            (Extended{.generations = 6, .repeats = 0, .max_epochs = 22}));
}

TEST(Extension, CountsTheRepeatsOfAnEarlierEnd) {
  const auto state = run({.population = 4, .generations = 5, .trials = 8, .repeats = 2});
  ASSERT_TRUE(state.finished());
  EXPECT_EQ(state.trainings(), 8);
  EXPECT_EQ(extension(state, {.trials = 8}), std::nullopt);
  // 12 in all: 2 repeats before, 2 of the best of those to come.
  EXPECT_EQ(extension(state, {.trials = 12}),
            (Extended{.generations = 5, .trials = 8, .repeats = 2}));
}

TEST(Extension, BringsRepeatsBackOnceThereIsRoomForThemAgain) {
  auto state = run({.population = 4, .generations = 50, .trials = 6, .repeats = 2});
  state.apply(*extension(state, {.trials = 7}));
  train(state);
  ASSERT_TRUE(state.finished());
  EXPECT_EQ(extension(state, {}), std::nullopt);
  EXPECT_EQ(extension(state, {.trials = 12}),
            (Extended{.generations = 50, .trials = 8, .repeats = 2}));
}

TEST(Extension, HasTheRepeatsThatAreGivenWhateverWaitedForRoom) {
  auto state = run({.population = 4, .generations = 50, .trials = 6, .repeats = 5});
  state.apply(*extension(state, {.trials = 8}));  // a trial, a repeat
  train(state);
  for (const int repeats : {0, 1, 2})
    EXPECT_EQ(extension(state, {.trials = 20, .repeats = repeats}),
              (Extended{.generations = 50, .trials = 14 - repeats, .repeats = repeats}));
  // Nothing but the wish changes.
  state.apply(*extension(state, {.repeats = 1}));
  EXPECT_EQ(extension(state, {.repeats = 1}), std::nullopt);
  EXPECT_EQ(extension(state, {.trials = 20}),
            (Extended{.generations = 50, .trials = 13, .repeats = 1}));
  // Bounds that leave nothing bring none back.
  state.apply(*extension(state, {.repeats = 0}));
  EXPECT_EQ(extension(state, {.trials = 4}), std::nullopt);
}

TEST(Extension, OfASearchGivesRepeatsThatWaitForRoomNoneOfItsTrials) {
  auto state =
      with_early_repeats({.population = 4, .generations = 50, .trials = 24, .repeats = 10}, 9, 3);
  state.apply(*extension(state, {}));
  train(state, 2);
  ASSERT_EQ(bounds_of(state, true).repeats, 6);
  EXPECT_EQ(extension(state, {.trials = 25}),
            (Extended{.generations = 50, .trials = 15, .repeats = 7, .wished_repeats = 10}));
  EXPECT_EQ(extension(state, {.trials = 30}),
            (Extended{.generations = 50, .trials = 17, .repeats = 10}));
}

TEST(Extension, OfARunAtItsRepeatsBringsBackThoseThatWaitForRoom) {
  auto state =
      run({.population = 4, .generations = 5, .trials = 10, .max_epochs = 20, .repeats = 4}, 7);
  ASSERT_EQ(state.epochs_trained(), 14);
  state.apply(*extension(state, {.max_epochs = 16}));
  ASSERT_EQ(state.repeats().wanted(), 2);
  state.apply(*extension(state, {.max_epochs = 20}));
  EXPECT_EQ(state.repeats().wanted(), 4);
}

TEST(Extension, ByAnyLargerNumberOfTrialsHasANewOneThoughFewerAreTrainedAgain) {
  const auto state = run({.population = 4, .generations = 5, .trials = 6, .repeats = 2});
  ASSERT_EQ(state.trainings(), 6);
  EXPECT_EQ(extension(state, {.trials = 7}),
            (Extended{.generations = 5, .trials = 5, .repeats = 0, .wished_repeats = 2}));
  EXPECT_EQ(extension(state, {.trials = 8}),
            (Extended{.generations = 5, .trials = 5, .repeats = 1, .wished_repeats = 2}));
  EXPECT_EQ(extension(state, {.trials = 9}),
            (Extended{.generations = 5, .trials = 5, .repeats = 2}));
}

TEST(Extension, ByTrialsThatRepeatsGivenBesidesLeaveNoneOfIsRefused) {
  const auto state = run({.population = 4, .generations = 5, .trials = 10, .repeats = 3});
  EXPECT_EQ(test::refusal([&] { extension(state, {.trials = 14, .repeats = 4}); }),
            "--repeats 4: with 4 trainings to come none is left for a new trial; repeat fewer, or "
            "let there be more");
  EXPECT_EQ(extension(state, {.trials = 15, .repeats = 4}),
            (Extended{.generations = 5, .trials = 8, .repeats = 4}));
}

TEST(Extension, ByMoreGenerationsHasANewTrialThoughFewerAreTrainedAgain) {
  const auto state = run({.population = 2, .generations = 3, .repeats = 4});
  ASSERT_TRUE(state.finished());
  EXPECT_EQ(extension(state, {.generations = 4}),
            (Extended{.generations = 4, .trials = 3, .repeats = 1, .wished_repeats = 4}));
  EXPECT_EQ(extension(state, {.generations = 6}),
            (Extended{.generations = 6, .trials = 4, .repeats = 4}));
}

TEST(Extension, ByGenerationsFillsTheLastOneOfARunThatTrialsHadEnded) {
  const auto state = run({.population = 3, .generations = 4, .trials = 10});
  EXPECT_EQ(extension(state, {.generations = 4}), (Extended{.generations = 4, .repeats = 0}));
  EXPECT_EQ(extension(state, {.generations = 4, .trials = 10}), std::nullopt);
  // Of 300 generations the user wanted ten trials only.
  const auto bounded = run({.population = 3, .generations = 300, .trials = 10});
  EXPECT_EQ(extension(bounded, {.generations = 300}), std::nullopt);
}

TEST(Extension, ByTrialsKeepsTheBoundOnEpochsWhateverTheRepeats) {
  const auto state =
      run({.population = 4, .generations = 5, .trials = 7, .max_epochs = 16, .repeats = 1});
  ASSERT_TRUE(state.finished());
  ASSERT_EQ(state.epochs_trained(), 14);
  // 16 epochs are one training more.
  EXPECT_EQ(
      extension(state, {.trials = 10}),
      (Extended{
          .generations = 5, .trials = 9, .repeats = 0, .wished_repeats = 1, .max_epochs = 14}));
  EXPECT_EQ(
      extension(state, {.generations = 6}),
      (Extended{
          .generations = 6, .trials = 23, .repeats = 0, .wished_repeats = 1, .max_epochs = 14}));
  const auto spent =
      run({.population = 4, .generations = 5, .trials = 7, .max_epochs = 14, .repeats = 1});
  EXPECT_EQ(extension(spent, {.trials = 10}), std::nullopt);
  EXPECT_EQ(extension(spent, {.trials = 10, .max_epochs = 18}),
            (Extended{.generations = 5, .trials = 8, .repeats = 1, .max_epochs = 14}));
}

TEST(Extension, ByEpochsKeepsTheBoundOnTrialsWhateverTheRepeats) {
  const auto state =
      run({.population = 4, .generations = 5, .trials = 7, .max_epochs = 8, .repeats = 1});
  ASSERT_TRUE(state.finished());
  ASSERT_EQ(state.trainings(), 4);
  EXPECT_EQ(extension(state, {.max_epochs = 99}),
            (Extended{.generations = 5, .trials = 5, .repeats = 1, .max_epochs = 95}));
  const auto all = run({.population = 4, .generations = 1, .max_epochs = 8, .repeats = 1});
  EXPECT_EQ(extension(all, {.max_epochs = 99}), std::nullopt);
}

TEST(Extension, OfAFinishedRunByTheSameRepeatsIsNothingWhateverElseIsLarger) {
  const auto state =
      run({.population = 4, .generations = 5, .trials = 4, .max_epochs = 100, .repeats = 2});
  EXPECT_EQ(extension(state, {.max_epochs = 200, .repeats = 2}), std::nullopt);
  EXPECT_EQ(extension(state, {.max_epochs = 200, .repeats = 12}),
            (Extended{.generations = 5, .trials = 2, .repeats = 12, .max_epochs = 96}));
}

TEST(Extension, OfAFinishedRunByRepeatsForWhichItsBoundsHaveNoRoomIsOfThemAlone) {
  const auto state =
      run({.population = 4, .generations = 5, .trials = 7, .max_epochs = 14, .repeats = 1});
  EXPECT_EQ(extension(state, {.trials = 13, .repeats = 7}),
            (Extended{.generations = 5, .trials = 6, .repeats = 7, .max_epochs = 12}));
  const auto small = run({.population = 4, .generations = 2, .max_epochs = 40});
  EXPECT_EQ(extension(small, {.repeats = 10}),
            (Extended{.generations = 2, .repeats = 10, .max_epochs = 40}));
}

TEST(Extension, OfARunThatIsNotFinishedHasNoMoreRepeatsThanItsBoundsHaveRoomFor) {
  const auto by_trials = run({.population = 4, .generations = 5, .trials = 8}, 5);
  EXPECT_EQ(extension(by_trials, {.repeats = 3}),
            (Extended{.generations = 5, .trials = 5, .repeats = 3}));
  EXPECT_EQ(
      test::refusal([&] { extension(by_trials, {.repeats = 4}); }),
      "--repeats 4: with 3 trainings to come there are too few for them; repeat fewer, or let "
      "there be more");
  const auto by_epochs = run({.population = 4, .generations = 5, .max_epochs = 12}, 3);
  EXPECT_EQ(extension(by_epochs, {.repeats = 3}),
            (Extended{.generations = 5, .trials = 17, .repeats = 3, .max_epochs = 6}));
  EXPECT_EQ(
      test::refusal([&] { extension(by_epochs, {.repeats = 4}); }),
      "--repeats 4: with 3 trainings to come there are too few for them; repeat fewer, or let "
      "there be more");
}

TEST(Extension, OfARunThatIsNotFinishedByLessHasFewerOfTheRepeatsThatItWasGiven) {
  const auto state = run({.population = 4, .generations = 5, .trials = 10, .repeats = 3}, 5);
  EXPECT_EQ(extension(state, {.trials = 7}),
            (Extended{.generations = 5, .trials = 5, .repeats = 2, .wished_repeats = 3}));
  EXPECT_EQ(extension(state, {.trials = 4}),
            (Extended{.generations = 5, .trials = 4, .repeats = 0, .wished_repeats = 3}));
}

TEST(Extension, OfAFinishedRunHasNoMoreRepeatsThanTheBoundsThatAreGivenHaveRoomFor) {
  const auto by_epochs = run({.population = 4, .generations = 5, .max_epochs = 12});
  ASSERT_TRUE(by_epochs.finished());
  EXPECT_EQ(
      test::refusal([&] { extension(by_epochs, {.max_epochs = 13, .repeats = 2}); }),
      "--repeats 2: with 0 trainings to come there are too few for them; repeat fewer, or let "
      "there be more");
  EXPECT_EQ(test::refusal([&] { extension(by_epochs, {.max_epochs = 16, .repeats = 2}); }),
            "--repeats 2: with 2 trainings to come none is left for a new trial; repeat fewer, or "
            "let there be more");
  EXPECT_EQ(extension(by_epochs, {.max_epochs = 18, .repeats = 2}),
            (Extended{.generations = 5, .trials = 18, .repeats = 2, .max_epochs = 14}));
  const auto by_trials = run({.population = 4, .generations = 5, .trials = 10});
  EXPECT_EQ(
      test::refusal([&] { extension(by_trials, {.trials = 10, .repeats = 5}); }),
      "--repeats 5: with 0 trainings to come there are too few for them; repeat fewer, or let "
      "there be more");
}

TEST(Extension, OfAFinishedRunByMoreAndItsOwnRepeatsIsThatByMore) {
  const auto by_trials = run({.population = 4, .generations = 5, .trials = 10, .repeats = 2});
  EXPECT_EQ(extension(by_trials, {.trials = 12, .repeats = 2}),
            (Extended{.generations = 5, .trials = 9, .repeats = 1, .wished_repeats = 2}));
  const auto by_epochs = run({.population = 4, .generations = 5, .max_epochs = 20, .repeats = 2});
  EXPECT_EQ(
      extension(by_epochs, {.max_epochs = 24, .repeats = 2}),
      (Extended{
          .generations = 5, .trials = 17, .repeats = 1, .wished_repeats = 2, .max_epochs = 18}));
}

// Its search is done, and of its repeats one has begun.
TEST(Extension, OfARunAtItsRepeatsKeepsThoseThatAreOwed) {
  const auto state =
      run({.population = 4, .generations = 5, .trials = 8, .max_epochs = 30, .repeats = 3}, 6);
  ASSERT_TRUE(state.evolution().done());
  ASSERT_EQ(state.repeats().begun(), 1);
  EXPECT_EQ(extension(state, {.trials = 8, .max_epochs = 30, .repeats = 3}), std::nullopt);
  EXPECT_EQ(extension(state, {.max_epochs = 200}), std::nullopt) << "its trials are all begun";
  EXPECT_EQ(extension(state, {.max_epochs = 200, .repeats = 3}), std::nullopt);
  // Nine: a new trial, one that had begun, and two more.
  EXPECT_EQ(
      extension(state, {.trials = 9}),
      (Extended{
          .generations = 5, .trials = 6, .repeats = 2, .wished_repeats = 3, .max_epochs = 24}));
  EXPECT_EQ(
      extension(state, {.trials = 7}),
      (Extended{
          .generations = 5, .trials = 5, .repeats = 2, .wished_repeats = 3, .max_epochs = 24}))
      << "one of the two that are owed";
}

TEST(Extension, IsByTheTrialsWhateverTheGenerationsAre) {
  const auto searching = run({.population = 2, .generations = 9, .trials = 17, .repeats = 2}, 5);
  EXPECT_EQ(extension(searching, {.generations = 2, .trials = 17, .repeats = 2}), std::nullopt);
  const auto finished = run({.population = 4, .generations = 5, .trials = 10});
  EXPECT_EQ(extension(finished, {.generations = 6, .trials = 40}),
            (Extended{.generations = 10, .trials = 40, .repeats = 0}));
}

TEST(Extension, ByEpochsBeginsNoTrialBeyondTheTrialsThatAreGivenBesides) {
  const auto state = run({.population = 4, .generations = 5, .max_epochs = 20});
  ASSERT_EQ(state.trainings(), 10);
  EXPECT_EQ(extension(state, {.trials = 10, .max_epochs = 80}), std::nullopt);
  EXPECT_EQ(extension(state, {.trials = 8, .max_epochs = 80}), std::nullopt);
  EXPECT_EQ(extension(state, {.trials = 12, .max_epochs = 80}),
            (Extended{.generations = 5, .trials = 12, .repeats = 0, .max_epochs = 80}));
}

TEST(Extension, ByTrialsBeginsNoneBeyondTheEpochsThatAreGivenBesides) {
  const auto state = run({.population = 4, .generations = 5, .trials = 12});
  EXPECT_EQ(extension(state, {.trials = 15, .max_epochs = 23}), std::nullopt);
  EXPECT_EQ(extension(state, {.trials = 15, .max_epochs = 27}),
            (Extended{.generations = 5, .trials = 15, .repeats = 0, .max_epochs = 27}));
}

TEST(Bounds, OfARunAreWhatAPersonWouldGiveIt) {
  const auto state = run({.population = 4, .generations = 5, .trials = 8, .repeats = 2});
  const auto bounds = bounds_of(state, true);
  EXPECT_EQ(bounds.generations, 5);
  EXPECT_EQ(bounds.trials, 8);
  EXPECT_EQ(bounds.repeats, 2);
  EXPECT_EQ(bounds.max_epochs, std::nullopt);
}

TEST(Bounds, HaveNoTrialsThatNobodyGaveThoughRepeatsAreKept) {
  const auto state = run({.population = 4, .generations = 5, .max_epochs = 20, .repeats = 2}, 3);
  const auto bounds = bounds_of(state, false);
  EXPECT_EQ(bounds.trials, std::nullopt);
  EXPECT_EQ(bounds.max_epochs, 20);
  EXPECT_EQ(bounds.repeats, 2);
}

TEST(Bounds, HaveTrialsThatSomebodyGaveThoughTheGenerationsHaveAsMany) {
  const auto repeated = run({.population = 4, .generations = 5, .trials = 20, .repeats = 2});
  EXPECT_EQ(bounds_of(repeated, true).trials, 20);
  // Given by an earlier resume, of which the options of the run's beginning know nothing.
  const auto extended = run({.population = 4, .generations = 5, .trials = 20});
  EXPECT_EQ(bounds_of(extended, false).trials, 20);
}

TEST(Extension, ByEpochsHasTheGenerationsThatTheseNeed) {
  const auto extended = [](const results::RunSettings& bounds) {
    return *extension(run(bounds), {.max_epochs = 60});
  };
  EXPECT_EQ(extended({.population = 4, .generations = 5, .max_epochs = 20}).generations, 15);
  EXPECT_EQ(extended({.population = 4, .generations = 4, .max_epochs = 20}).generations, 4)
      << "as few as somebody asked for";
  const auto state = run({.population = 4, .generations = 5, .max_epochs = 20});
  EXPECT_EQ(extension(state, {.generations = 6, .max_epochs = 60})->generations, 6);
}

TEST(Extension, LeavesRoomForWhatIsUnderWay) {
  auto state = run({.population = 4, .generations = 5, .max_epochs = 30}, 3);
  for (int i = 0; i < 2; ++i) {
    const auto trial = *state.next_trial();
    state.apply(results::Started{.trial = trial.number, .hyp = trial.hyp});
  }
  EXPECT_EQ(test::refusal([&] { extension(state, {.max_epochs = 9}); }),
            "--max-epochs 9: after 6 epochs what was under way takes 4 more; write 10 or more");
  EXPECT_EQ(extension(state, {.max_epochs = 10})->max_epochs, 10);
}

TEST(Extension, WhereNothingHasCompletedBlamesNoRepeatsThatNobodyAsksFor) {
  RunState state({.search = "classic",
                  .trials = 3,
                  .max_epochs = 6,
                  .repeats = 2,
                  .epochs = 2,
                  .space = hyp::default_space()});
  const auto trial = *state.next_trial();
  state.apply(results::Started{.trial = trial.number, .hyp = trial.hyp});
  state.apply(hyp::Outcome{.trial = trial.number, .result = hyp::Failed{.message = "gone"}});
  ASSERT_TRUE(state.finished());
  EXPECT_EQ(extension(state, {.max_epochs = 1}), std::nullopt);
}

}  // namespace
}  // namespace evolve::engine

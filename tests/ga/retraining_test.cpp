#include "ga/retraining.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "tests/ga/fixtures.hpp"

namespace evolve::ga {
namespace {

TEST(Retraining, TrainsTheBestAgainThoughTheStartFailsOrLearnsNothing) {
  for (const bool fails : {true, false}) {
    Evolution evolution(cube(), screened(1, 60));
    int again = 0;
    std::set<hyp::Genes> trained;
    while (const auto trial = evolution.ask()) {
      const auto& set = evolution.genes(trial->number);
      const bool is_start = set == evolution.genes(0);
      again += !trained.insert(set).second && !is_start;
      const double luck = 0.2 * std::sin(37.0 * trial->number);
      if (is_start && fails) {
        evolution.tell(failed(trial->number));
      } else {
        evolution.tell(
            completed(trial->number, is_start ? 0 : 0.5 + 0.1 * peak(trial->hyp) + luck));
      }
    }
    EXPECT_GT(again, 0) << fails;
  }
}

TEST(Retraining, TrainsTheStartWithEachOfTheFirstSeeds) {
  const hyp::Space space = space_of({real(0, 1, 0.3), real(0, 1, 0.6)});
  for (const bool noisy : {true, false}) {
    Evolution evolution(space, screened(1, 40));
    std::vector<int> starts;
    std::set<std::uint64_t> seeds;
    while (const auto trial = evolution.ask()) {
      if (evolution.genes(trial->number) == evolution.genes(0)) {
        starts.push_back(trial->number);
        seeds.insert(trial->seed);
      }
      const double luck = noisy ? 1e-3 * static_cast<double>(trial->seed % 97) : 0;
      evolution.tell(completed(trial->number, trial->hyp.number("g0") + luck));
    }
    // Where two trainings agree to the last digit, a third tells at once whether that was chance.
    EXPECT_EQ(starts, noisy ? (std::vector{0, 13, 26}) : (std::vector{0, 13, 14}));
    EXPECT_EQ(seeds.size(), starts.size());
  }
}

// On two slots trial 14 begins before trial 13 has ended.
TEST(Retraining, TrainsTheStartForTheThirdTimeWithTheNextTrialOfItsSeed) {
  const hyp::Space space = space_of({real(0, 1, 0.3), real(0, 1, 0.6)});
  for (const int together : {2, 7, 8, 20}) {
    Evolution evolution(space, screened(1, 60));
    std::vector<int> starts;
    std::vector<hyp::Trial> trials = evolution.ask(15);
    for (; !trials.empty(); trials = evolution.ask(together)) {
      for (const auto& trial : trials) {
        if (evolution.genes(trial.number) == evolution.genes(0)) starts.push_back(trial.number);
        evolution.tell(completed(trial.number, trial.hyp.number("g0")));
      }
    }
    EXPECT_EQ(starts, (std::vector{0, 13, 20})) << together;
  }
}

// The third training of the start hangs on trial 14, which may be among those that are asked for.
TEST(Retraining, TrainsTheStartAgainThoughManyTrialsAreAskedForAtOnce) {
  const hyp::Space space = space_of({real(0, 1, 0.3), real(0, 1, 0.6)});
  for (const int first : {1, 12, 13, 14}) {
    Evolution evolution(space, screened(1, 60));
    std::vector<int> starts;
    std::vector<hyp::Trial> trials;
    for (int most = first; !(trials = evolution.ask(most)).empty(); most = 20) {
      for (const auto& trial : trials) {
        if (evolution.genes(trial.number) == evolution.genes(0)) starts.push_back(trial.number);
        const double luck = 1e-3 * static_cast<double>(trial.seed % 97);
        evolution.tell(completed(trial.number, trial.hyp.number("g0") + luck));
      }
    }
    EXPECT_EQ(starts, (std::vector{0, 13, 26})) << first;
  }
}

// Nothing is as good as the best, and every fitness is the same whatever the seed.
TEST(Retraining, LeavesTheLastTrialsToNewSetsWhereTheBestIsNotInDoubt) {
  Evolution together(cube(), screened(1, 60)), one_by_one(cube(), screened(1, 60));
  const auto told = [](Evolution& evolution, const hyp::Trial& trial) {
    evolution.tell(completed(trial.number, 0.5 + 0.1 * peak(trial.hyp)));
  };
  for (int i = 0; i < 50; ++i) {
    told(together, *together.ask());
    told(one_by_one, *one_by_one.ask());
  }
  const auto trials = together.ask(8);
  ASSERT_EQ(trials.size(), 8U);
  std::set<hyp::Genes> sets;
  for (const auto& trial : trials) sets.insert(together.genes(trial.number));
  EXPECT_EQ(sets.size(), 8U);
  EXPECT_EQ(one_by_one.ask()->hyp, trials.front().hyp) << "the first one knows as much";
}

TEST(Retraining, TrainsTheStartAgainAfterTheGivenSets) {
  const hyp::Space space = space_of({real(0, 1, 0.3), real(0, 1, 0.6)});
  for (const auto& [count, second] : {std::pair(12, 13), std::pair(20, 25), std::pair(50, 55)}) {
    std::vector<hyp::Hyperparameters> given;
    for (int i = 0; i < count; ++i) given.push_back({{"g0", 0.01 * i}, {"g1", 0.5}});
    Evolution evolution(space, screened(1, count + 24), given);
    std::vector<int> starts;
    while (const auto trial = evolution.ask()) {
      if (evolution.genes(trial->number) == evolution.genes(0)) starts.push_back(trial->number);
      const double luck = 1e-3 * static_cast<double>(trial->seed % 97);
      evolution.tell(completed(trial->number, trial->hyp.number("g0") + luck));
    }
    ASSERT_GE(starts.size(), 3U) << count;
    EXPECT_EQ(starts[1], second);
    EXPECT_EQ(starts[2], second + 13);
  }
}

// The fitness of a set and a seed, a lot of it luck.
double lucky(const hyp::Trial& trial) {
  const double any =
      1e4 * std::sin(static_cast<double>(trial.seed % 1009) + 7 * trial.hyp.number("g0"));
  return 1 + peak(trial.hyp) + 0.2 * (any - std::floor(any));
}

// The numbers of the trials whose set was trained before, but for the start's.
std::vector<int> trained_again(Evolution& evolution, double (*fitness)(const hyp::Trial&)) {
  std::map<hyp::Genes, std::set<std::uint64_t>> seeds;
  std::vector<int> again;
  while (const auto trial = evolution.ask()) {
    auto& of_set = seeds[evolution.genes(trial->number)];
    if (!of_set.empty() && evolution.genes(trial->number) != evolution.genes(0))
      again.push_back(trial->number);
    EXPECT_TRUE(of_set.insert(trial->seed).second) << "the same training twice";
    evolution.tell(completed(trial->number, fitness(*trial)));
  }
  return again;
}
std::vector<int> trained_again(int trials, double (*fitness)(const hyp::Trial&)) {
  Evolution evolution(cube(), screened(1, trials));
  return trained_again(evolution, fitness);
}

TEST(Retraining, TrainsTheBestAgainInTheLastFifthFromTrial45On) {
  EXPECT_THAT(trained_again(45, lucky), testing::IsEmpty());
  const auto of_50 = trained_again(50, lucky);
  EXPECT_THAT(of_50,
              testing::AllOf(testing::SizeIs(testing::Ge(3)), testing::Each(testing::Ge(45))));
  const auto of_100 = trained_again(100, lucky);
  EXPECT_THAT(of_100,
              testing::AllOf(testing::SizeIs(testing::Ge(10)), testing::Each(testing::Ge(80))));
}

TEST(Retraining, TrainsTheBestAgainInTheLastFifthOfTheTrialsThatAreExpected) {
  Evolution evolution(cube(), screened(1, 1000));
  std::set<hyp::Genes> trained;
  std::vector<int> again;
  for (int i = 0; i < 90; ++i) {
    if (i == 50) evolution.expect(75);
    if (i == 70) evolution.expect({});
    const auto trial = evolution.ask();
    const auto& set = evolution.genes(i);
    if (!trained.insert(set).second && set != evolution.genes(0)) again.push_back(i);
    evolution.tell(completed(i, lucky(*trial)));
  }
  EXPECT_THAT(again, testing::SizeIs(testing::Ge(4)));
  EXPECT_THAT(again, testing::Each(testing::AllOf(testing::Ge(60), testing::Lt(70))));
}

TEST(Retraining, TrainsNothingAgainButTheStartWhereThereIsNoLuck) {
  EXPECT_THAT(trained_again(60, [](const hyp::Trial& trial) { return peak(trial.hyp); }),
              testing::IsEmpty());
}

// Those that are under way count as trained.
TEST(Retraining, TrainsSeveralSetsAgainAtOnce) {
  Evolution evolution(cube(), screened(1, 60));
  std::set<hyp::Genes> before;
  for (int i = 0; i < 48; ++i) {
    const auto trial = evolution.ask();
    before.insert(evolution.genes(i));
    evolution.tell(completed(i, lucky(*trial)));
  }
  std::set<hyp::Genes> again;
  for (const auto& trial : evolution.ask(12)) {
    const auto& set = evolution.genes(trial.number);
    if (before.contains(set)) {
      EXPECT_TRUE(again.insert(set).second);
    }
  }
  EXPECT_GE(again.size(), 4U);
}

// Trial 26 of a run with --lag 14 may know trial 12 and none after it: not that the start gave the
// same in trial 13, even where that has ended.
TEST(Retraining, TrainsTheStartAgainWhateverItMayNotKnow) {
  const hyp::Space space = space_of({real(0, 1, 0.3), real(0, 1, 0.6)});
  for (const auto& [lag, third] : {std::pair(1, 14), std::pair(2, 20), std::pair(14, 26)}) {
    auto settings = screened(1, 27);
    settings.lag = lag;
    Evolution evolution(space, settings);
    run(evolution, [](const auto& hyp) { return hyp.number("g0"); });
    for (const int trial : {14, 20, 26})
      EXPECT_EQ(evolution.genes(trial) == evolution.genes(0), trial == third)
          << lag << " " << trial;
  }
}

TEST(Retraining, TakesTwoStartsThatLearntNothingForNoAgreement) {
  const hyp::Space space = space_of({real(0, 1, 0.3), real(0, 1, 0.6)});
  Evolution evolution(space, screened(1, 28));
  std::vector<int> starts;
  while (const auto trial = evolution.ask()) {
    const bool is_start = evolution.genes(trial->number) == evolution.genes(0);
    if (is_start) starts.push_back(trial->number);
    const double luck = 1e-3 * static_cast<double>(trial->seed % 97);
    evolution.tell(completed(trial->number, is_start ? 0 : trial->hyp.number("g0") + luck));
  }
  EXPECT_THAT(starts, testing::ElementsAre(0, 13, 26));
}

TEST(Retraining, TrainsTheBestAgainInTheLastFifthOfTheEpochsWhereNothingIsPaused) {
  Evolution evolution(
      cube(),
      {.search = "screened", .seed = 1, .epochs = 9, .max_epochs = 9 * 50, .pauses = false});
  const auto again = trained_again(evolution, lucky);
  EXPECT_EQ(evolution.asked(), 50);
  EXPECT_THAT(again,
              testing::AllOf(testing::SizeIs(testing::Ge(3)), testing::Each(testing::Ge(45))));
}

}  // namespace
}  // namespace evolve::ga

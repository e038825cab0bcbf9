#include "engine/longer_trainings.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/engine/trials.hpp"

namespace evolve::engine {
namespace {

/// Nine epochs; each trial was looked at after the third, had this fitness there, and at its end.
ga::Evolution trained(const std::vector<std::pair<double, double>>& fitness) {
  ga::Evolution evolution(small_space, {.search = "classic", .epochs = 9});
  for (const auto& [looked_at, end] : fitness) {
    const int trial = evolution.ask()->number;
    evolution.tell(hyp::Rung{.trial = trial, .epoch = 3, .fitness = looked_at});
    evolution.tell({.trial = trial, .result = hyp::Completed{{}, end}});
  }
  return evolution;
}

TEST(LongerTrainings, GoOnAtThePowerAtWhichTheMiddleTrainingGrew) {
  const auto longer = longer_trainings(trained({{0.1, 0.1}, {0.1, 0.2}, {0.1, 0.9}}));
  ASSERT_TRUE(longer);
  EXPECT_EQ(longer->epochs, 14);
  EXPECT_EQ(longer->looked_at, 3);
  EXPECT_NEAR(longer->growth, 1, 1e-12);  // three times the epochs, twice the fitness
  EXPECT_NEAR(longer->luck, std::pow(2, -std::log(14.0 / 9) / std::log(3)), 1e-12);
}

TEST(LongerTrainings, AreNotKnownOfTrainingsThatBeganToLearnLate) {
  EXPECT_FALSE(longer_trainings(trained({{0.1, 0.3}, {0.1, 0.3}, {0.1, 0.3}})));
}

TEST(LongerTrainings, AreNotKnownOfTwoTrainings) {
  EXPECT_FALSE(longer_trainings(trained({{0.1, 0.2}, {0.1, 0.2}})));
}

TEST(LongerTrainings, AreOfNoUseWhereFitnessDoesNotGrow) {
  EXPECT_FALSE(longer_trainings(trained({{0.1, 0.1}, {0.1, 0.1}, {0.1, 0.2}})));
}

TEST(LongerTrainings, AreNotToldByWhatHadNothingAtItsLook) {
  EXPECT_FALSE(longer_trainings(trained({{0, 0.2}, {-0.1, 0.2}, {0.1, 0.2}, {0.1, 0.2}})));
}

TEST(LongerTrainings, AreNotToldByWhatWasStoppedOrFailed) {
  auto evolution = trained({{0.1, 0.2}, {0.1, 0.2}});
  using Result = decltype(hyp::Outcome::result);
  for (const Result& end : {Result(hyp::Stopped{6, {}, 0.2}), Result(hyp::Failed{})}) {
    const int trial = evolution.ask()->number;
    evolution.tell(hyp::Rung{.trial = trial, .epoch = 3, .fitness = 0.1});
    evolution.tell({.trial = trial, .result = end});
  }
  EXPECT_FALSE(longer_trainings(evolution));
}

TEST(LongerTrainings, AreMeasuredFromTheLastLookThatAnyHad) {
  auto evolution = trained({{0.1, 0.2}, {0.1, 0.2}, {0.1, 0.2}});
  evolution.tell(hyp::Rung{.trial = 0, .epoch = 6, .fitness = 0.15});
  EXPECT_FALSE(longer_trainings(evolution)) << "one had a look there";
  for (const int trial : {1, 2})
    evolution.tell(hyp::Rung{.trial = trial, .epoch = 6, .fitness = 0.15});
  EXPECT_EQ(longer_trainings(evolution)->looked_at, 6);
}

}  // namespace
}  // namespace evolve::engine

#include "engine/repeats.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "engine/settings.hpp"
#include "ga/rng.hpp"

namespace evolve::engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t seed = 7;

Finished trial(int number, double fitness) {
  return {.trial = number, .hyp = {{"lr0", 0.01 * number}}, .metrics = {}, .fitness = fitness};
}

hyp::Outcome repeated(int number, double fitness) {
  return {.trial = number,
          .device = "cpu:0",
          .repeat = true,
          .result = hyp::Completed{{.map50 = fitness}, fitness}};
}

hyp::Outcome failed(int number, int attempt, bool final) {
  return {.trial = number,
          .device = "cpu:1",
          .attempt = attempt,
          .repeat = true,
          .result = hyp::Failed{.final = final}};
}

Repeats repeats_of(int wanted, const std::vector<Finished>& completed,
                   const std::vector<hyp::Outcome>& outcomes) {
  Repeats repeats(wanted, seed);
  for (const auto& trial : completed) repeats.offer(trial);
  for (const auto& outcome : outcomes) repeats.add(outcome, completed);
  return repeats;
}

std::vector<int> missing(const Repeats& repeats) {
  std::vector<int> numbers;
  for (const auto& attempt : repeats.missing()) numbers.push_back(attempt.trial.number);
  return numbers;
}

const std::vector<Finished> four = {trial(0, 0.2), trial(2, 0.4), trial(1, 0.4), trial(3, 0.1)};

TEST(Repeats, AreOfTheBestTrialsTheFirstCompletedAmongEquals) {
  EXPECT_THAT(missing(repeats_of(1, four, {})), ElementsAre(2));
  EXPECT_THAT(missing(repeats_of(3, four, {})), ElementsAre(2, 1, 0));
  EXPECT_THAT(missing(repeats_of(9, four, {})), ElementsAre(2, 1, 0, 3));
  EXPECT_THAT(missing(repeats_of(0, four, {})), IsEmpty());
}

TEST(Repeats, TrainTheSameSetWithAnotherSeed) {
  const auto attempt = repeats_of(1, four, {}).missing().at(0);
  EXPECT_TRUE(attempt.trial.repeat);
  EXPECT_EQ(attempt.trial.hyp, trial(2, 0).hyp);
  EXPECT_EQ(attempt.trial.seed, ga::repeat_seed(seed, 2));
  EXPECT_EQ(attempt.number, 1);
}

TEST(Repeats, HappenOnce) {
  auto repeats = repeats_of(2, four, {repeated(2, 0.3)});
  EXPECT_THAT(missing(repeats), ElementsAre(1));
  repeats.add(repeated(1, 0.5), four);
  EXPECT_THAT(missing(repeats), IsEmpty());
  const std::vector<results::Repeat> both = {
      {2, ga::repeat_seed(seed, 2), 0.4, 0.3, {.map50 = 0.3}},
      {1, ga::repeat_seed(seed, 1), 0.4, 0.5, {.map50 = 0.5}}};
  EXPECT_EQ(repeats.completed(), both);
}

TEST(Repeats, OfEarlierBestTrialsAreKept) {
  auto repeats = repeats_of(1, four, {repeated(2, 0.3)});
  repeats.offer(trial(4, 0.9));
  EXPECT_THAT(missing(repeats), ElementsAre(4));
  EXPECT_EQ(repeats.completed().size(), 1U);
  const auto resumed = repeats_of(1, {trial(2, 0.4), trial(4, 0.9)}, {repeated(2, 0.3)});
  EXPECT_EQ(resumed.completed(), repeats.completed());
}

TEST(Repeats, AreTriedAgainElsewhereUntilTheyFailForGood) {
  auto repeats = repeats_of(1, four, {failed(2, 1, false)});
  EXPECT_EQ(repeats.missing().at(0).number, 2);
  EXPECT_THAT(repeats.missing().at(0).failed_on, ElementsAre("cpu:1"));
  repeats.add(failed(2, 2, true), four);
  EXPECT_THAT(missing(repeats), IsEmpty());
  EXPECT_THAT(repeats.completed(), IsEmpty());
}

TEST(SearchTrials, AreThoseThatTheRepeatsLeave) {
  EXPECT_EQ(search_trials({.population = 10, .generations = 3}, 0), std::nullopt);
  EXPECT_EQ(search_trials({.population = 10, .generations = 3}, 4), 26);
  EXPECT_EQ(search_trials({.population = 10, .generations = 3, .trials = 12}, 11), 1);
  EXPECT_EQ(search_trials({.population = 10, .generations = 3, .trials = 99}, 4), 26);
  try {
    search_trials({.trials = 3}, 3);
    FAIL() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 2);
    EXPECT_STREQ(error.what(),
                 "--repeats 3: with 3 trials none is left to be the best; repeat fewer, or let "
                 "--trials be more");
  }
}

TEST(Repeats, OfOtherNumbersAreWantedLater) {
  auto repeats = repeats_of(1, four, {repeated(2, 0.3)});
  repeats.want(3, four);
  EXPECT_THAT(missing(repeats), ElementsAre(1, 0));
}

TEST(Repeats, ThatTheSurroundingsPreventedAreNoAttempts) {
  auto prevented = failed(2, 1, false);
  std::get<hyp::Failed>(prevented.result).of_surroundings = true;
  EXPECT_EQ(repeats_of(1, four, {prevented}).missing().at(0).number, 1);
}

}  // namespace
}  // namespace evolve::engine

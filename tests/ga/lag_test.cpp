#include <gtest/gtest.h>

#include <boost/random/uniform_int_distribution.hpp>
#include <vector>

#include "tests/ga/fixtures.hpp"

namespace evolve::ga {
namespace {

hyp::Outcome outcome_of(const hyp::Trial& trial) {
  if (trial.number % 11 == 5) return failed(trial.number);
  if (trial.number % 13 == 7) return stopped(trial.number, 0.9);
  return completed(trial.number, peak(trial.hyp));
}

// Keeps up to `slots` trials in flight; which one ends next is up to `luck`.
std::vector<hyp::Trial> run_shuffled(Evolution& evolution, std::size_t slots, Rng luck) {
  std::vector<hyp::Trial> trials, in_flight;
  while (!evolution.done()) {
    while (in_flight.size() < slots) {
      auto trial = evolution.ask();
      if (!trial) break;
      trials.push_back(*trial);
      in_flight.push_back(*std::move(trial));
    }
    const auto last = static_cast<std::ptrdiff_t>(in_flight.size()) - 1;
    const auto at =
        in_flight.begin() + boost::random::uniform_int_distribution<std::ptrdiff_t>(0, last)(luck);
    evolution.tell(outcome_of(*at));
    in_flight.erase(at);
  }
  return trials;
}

// The same, asking for as many at once as there may be.
std::vector<hyp::Trial> run_ahead(Evolution& evolution, int at_once) {
  std::vector<hyp::Trial> trials, in_flight;
  while (!evolution.done()) {
    for (auto& trial : evolution.ask(at_once)) {
      trials.push_back(trial);
      in_flight.push_back(std::move(trial));
    }
    evolution.tell(outcome_of(in_flight.front()));
    in_flight.erase(in_flight.begin());
  }
  return trials;
}

Settings settings(int lag) {
  return {.search = "classic", .seed = 4, .population = 8, .generations = 12, .lag = lag};
}

TEST(Lag, GivesTheSameTrialsWhateverTheSlotsAndTheOrderOfTheEnds) {
  Evolution one_slot(cube(), settings(4));
  const auto expected = run_shuffled(one_slot, 1, Rng(0));
  ASSERT_EQ(expected.size(), 96U);
  for (std::size_t slots = 1; slots <= 6; ++slots) {  // two more than can be used
    for (std::uint64_t luck = 0; luck < 10; ++luck) {
      Evolution evolution(cube(), settings(4));
      EXPECT_EQ(run_shuffled(evolution, slots, Rng(luck)), expected) << slots << " slots";
      EXPECT_EQ(numbers_of(evolution.population()), numbers_of(one_slot.population()));
    }
  }
}

TEST(Lag, GivesTheSameScreenedTrialsWhateverTheSlotsAndTheOrderOfTheEnds) {
  Settings screened = settings(4);
  screened.search = "screened";
  screened.trials = 40;
  Evolution one_slot(cube(), screened);
  const auto expected = run_shuffled(one_slot, 1, Rng(0));
  ASSERT_EQ(expected.size(), 40U);
  for (const int at_once : {2, 8}) {
    Evolution evolution(cube(), screened);
    EXPECT_EQ(run_ahead(evolution, at_once), expected) << at_once << " at once";
  }
  for (std::size_t slots = 2; slots <= 5; ++slots) {
    Evolution evolution(cube(), screened);
    EXPECT_EQ(run_shuffled(evolution, slots, Rng(slots)), expected) << slots << " slots";
  }
}

TEST(Lag, OfAnotherLengthGivesOtherTrials) {
  Evolution one(cube(), settings(1)), four(cube(), settings(4));
  const auto a = run_shuffled(one, 1, Rng(0)), b = run_shuffled(four, 1, Rng(0));
  EXPECT_FALSE(a == b);
}

TEST(Lag, Of1InOneSlotIsWhatComesWithoutALag) {
  Evolution lag(cube(), settings(1));
  Settings asynchronous = settings(1);
  asynchronous.lag.reset();
  Evolution none(cube(), asynchronous);
  EXPECT_EQ(run_shuffled(lag, 1, Rng(0)), run_shuffled(none, 1, Rng(0)));
}

TEST(Lag, WithoutOneTheOrderOfTheEndsMatters) {
  Settings asynchronous = settings(1);
  asynchronous.lag.reset();
  Evolution one(cube(), asynchronous), two(cube(), asynchronous);
  EXPECT_FALSE(run_shuffled(one, 4, Rng(0)) == run_shuffled(two, 4, Rng(1)));
}

TEST(Lag, WaitsForExactlyTheTrialsThatMustBeKnown) {
  Evolution evolution(cube(), settings(3));
  for (int number = 0; number < 3; ++number) EXPECT_TRUE(evolution.ask());
  EXPECT_FALSE(evolution.ask());
  evolution.tell(completed(1, 0.5));
  evolution.tell(completed(2, 0.5));
  EXPECT_FALSE(evolution.ask());
  evolution.tell(failed(0, false));
  EXPECT_FALSE(evolution.ask());  // another attempt follows
  evolution.tell(failed(0));
  for (int number = 3; number < 6; ++number) EXPECT_EQ(evolution.ask()->number, number);
  EXPECT_FALSE(evolution.ask());
}

// In the budget of epochs that is left the last trials have no room before others have ended.
TEST(Lag, KnowsNoMoreForBeingLookedAt) {
  Settings bounded = settings(4);
  bounded.epochs = 9;
  bounded.max_epochs = 100;
  Evolution looked_at(cube(), bounded), left_alone(cube(), bounded);
  const auto train = [&](bool looks) {
    Evolution& evolution = looks ? looked_at : left_alone;
    std::vector<hyp::Trial> trials, in_flight;
    while (true) {
      while (auto trial = evolution.ask()) {
        trials.push_back(*trial);
        in_flight.push_back(*std::move(trial));
      }
      if (in_flight.empty()) return trials;
      auto end = outcome_of(in_flight.back());
      if (auto* failure = std::get_if<hyp::Failed>(&end.result)) failure->epoch = 1;
      evolution.tell(end);
      in_flight.pop_back();
      for (int i = 0; looks && i < 3; ++i) {
        EXPECT_EQ(evolution.done(), in_flight.empty() && !evolution.can_ask());
        evolution.standing();
        evolution.population();
      }
    }
  };
  EXPECT_EQ(train(true), train(false));
  for (auto* evolution : {&looked_at, &left_alone}) evolution->extend(50, {}, 200);
  const auto trials = train(true);
  EXPECT_GE(trials.size(), 11U);
  EXPECT_EQ(trials, train(false));
}

TEST(Lag, ShowsAllThatIsKnownNotOnlyWhatMayBeUsed) {
  Evolution evolution(cube(), settings(3));
  for (int number = 0; number < 3; ++number) evolution.ask();
  evolution.tell(completed(2, 0.9));
  evolution.tell(completed(1, 0.4));
  EXPECT_EQ(evolution.best()->trial, 2);
  EXPECT_EQ(numbers_of(evolution.population()), (std::vector{2, 1}));
}

}  // namespace
}  // namespace evolve::ga

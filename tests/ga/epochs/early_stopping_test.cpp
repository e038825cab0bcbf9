#include "ga/epochs/early_stopping.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <limits>

#include "ga/random/rng.hpp"
#include "tests/ga/fixtures.hpp"

namespace evolve::ga {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Controls with the final fitnesses 1 … n that had a hundred more at the rung.
std::vector<LearningCurve> rising(int n) {
  std::vector<LearningCurve> courses;
  for (int i = n; i >= 1; --i) courses.push_back({.at_rung = 100.0 + i, .final = double(i)});
  return courses;
}

TEST(Rungs, LieAtAThirdAndTwoThirds) {
  EXPECT_THAT(rungs_of(10), ElementsAre(3, 6));
  EXPECT_THAT(rungs_of(12), ElementsAre(4, 8));
  EXPECT_THAT(rungs_of(300), ElementsAre(100, 200));
}

TEST(Rungs, OfShortTrialsAreThoseThatThereAre) {
  EXPECT_THAT(rungs_of(1), IsEmpty());
  EXPECT_THAT(rungs_of(2), ElementsAre(1));
  EXPECT_THAT(rungs_of(3), ElementsAre(1, 2));
  EXPECT_THAT(rungs_of(4), ElementsAre(1, 2));
  EXPECT_THAT(rungs_of(5), ElementsAre(1, 3));
}

TEST(Controls, AreTheFirst40AndEveryFifth) {
  EXPECT_TRUE(is_control(0));
  EXPECT_TRUE(is_control(39));
  EXPECT_TRUE(is_control(40));
  for (const int trial : {41, 42, 43, 44}) EXPECT_FALSE(is_control(trial));
  EXPECT_TRUE(is_control(45));
}

TEST(StoppingThreshold, IsThatOfTheKthGoodControl) {
  // The good ones of 40 are 21 … 40, k = floor(0.05 * 21) = 1; of 80 41 … 80, k = 2.
  EXPECT_EQ(stopping_threshold(rising(40)), 121);
  EXPECT_EQ(stopping_threshold(rising(80)), 142);
}

TEST(StoppingThreshold, DoesNotExistBeforeThereAreEnoughGoodControls) {
  EXPECT_EQ(stopping_threshold({}), std::nullopt);
  EXPECT_EQ(stopping_threshold(rising(1)), std::nullopt);
  EXPECT_EQ(stopping_threshold(rising(37)), std::nullopt);  // 18 good ones
  EXPECT_EQ(stopping_threshold(rising(38)), 120);           // 19
}

TEST(StoppingThreshold, IsAskedOfTheGoodOnesOnly) {
  auto controls = rising(40);
  for (auto& curve : controls) {
    if (curve.final <= 20) curve.at_rung = -1000;
  }
  EXPECT_EQ(stopping_threshold(controls), 121);
  controls[0].at_rung = 7;  // the best one in the end
  EXPECT_EQ(stopping_threshold(controls), 7);
}

TEST(StoppingThreshold, CountsNobodyAsGoodWhoIsNotAboveTheMedian) {
  std::vector<LearningCurve> equal(100, {.at_rung = 1, .final = 0});
  EXPECT_EQ(stopping_threshold(equal), std::nullopt);
  for (int i = 0; i < 19; ++i) equal[i] = {.at_rung = 2, .final = 1};
  EXPECT_EQ(stopping_threshold(equal), 2);
}

TEST(StoppingThreshold, DoesNotExistWhereItWouldCatchFewOfTheBad) {
  auto controls = rising(80);  // bad are 1 … 40, the last ones of the list
  for (auto& curve : controls) curve.at_rung = curve.final <= 40 ? 1000 : curve.final;
  EXPECT_EQ(stopping_threshold(controls), std::nullopt);
  for (int i = 0; i < 5; ++i) controls[79 - i].at_rung = 0;
  EXPECT_EQ(stopping_threshold(controls), std::nullopt);
  controls[74].at_rung = 0;
  EXPECT_EQ(stopping_threshold(controls), 42);
}

// Courses whose fitness at the rung says so much of the final one.
class Courses {
 public:
  Courses(std::uint64_t seed, double telling) : telling_(telling), rng_(seed) {}
  LearningCurve next() {
    const double rung = normal_(rng_);
    return {.at_rung = rung, .final = telling_ * rung + normal_(rng_)};
  }

 private:
  double telling_;
  Rng rng_;
  boost::random::normal_distribution<double> normal_;
};

struct Shares {
  /// Of the good trials that were stopped, and of the bad ones.
  double good = 0, bad = 0;
};

// The bound holds on the average over controls and trials: many small experiments, each with
// controls of its own and one further trial.
Shares stopped_shares(int controls, double telling) {
  Courses courses(7, telling);
  Shares trials, stopped;
  for (int experiment = 0; experiment < 20000; ++experiment) {
    std::vector<LearningCurve> known;
    std::vector<double> finals;
    for (int i = 0; i < controls; ++i) {
      known.push_back(courses.next());
      finals.push_back(known.back().final);
    }
    std::sort(finals.begin(), finals.end());
    const LearningCurve trial = courses.next();
    const bool good = trial.final > finals[finals.size() / 2 - 1];
    const bool stops = trial.at_rung < stopping_threshold(known).value_or(-1e9);
    (good ? trials.good : trials.bad) += 1;
    (good ? stopped.good : stopped.bad) += stops;
  }
  return {stopped.good / trials.good, stopped.bad / trials.bad};
}

TEST(StoppingThreshold, LosesAsManyGoodTrialsAsItsBoundAllows) {
  // k / (n + 1) with n = 20 and n = 40; the noise of 10,000 good trials is 0.0022.
  const auto few = stopped_shares(40, 2), many = stopped_shares(80, 2);
  EXPECT_NEAR(few.good, 1.0 / 21, 0.008);
  EXPECT_NEAR(many.good, 2.0 / 41, 0.008);
  EXPECT_GT(few.bad, 0.5);
  EXPECT_GT(many.bad, 0.5);
}

TEST(StoppingThreshold, LosesNextToNothingAtARungThatTellsNothing) {
  EXPECT_LT(stopped_shares(40, 0).good, 0.02);
  EXPECT_LT(stopped_shares(80, 0).good, 0.01);
}

hyp::Rung at(int trial, double fitness, int epoch = 3) {
  return {.trial = trial, .epoch = epoch, .fitness = fitness};
}

// Trials 0 … n - 1 with fitness 100 + number at the rung and their number in the end.
EarlyStopping after(int n) {
  EarlyStopping early;
  for (int i = 0; i < n; ++i) {
    early.tell(at(i, 100 + i));
    early.tell(completed(i, i));
  }
  return early;
}

TEST(EarlyStopping, StopsWhoIsBelowTheGoodControls) {
  const auto early = after(40);
  EXPECT_TRUE(early.stops(at(41, 119.9), {}));
  EXPECT_FALSE(early.stops(at(41, 120), {}));
}

TEST(EarlyStopping, NeverStopsAControl) {
  const auto early = after(41);
  EXPECT_FALSE(early.stops(at(45, 0), {}));
  EXPECT_TRUE(early.stops(at(46, 0), {}));
}

TEST(EarlyStopping, NeverStopsAFitnessThatIsNoNumber) {
  EXPECT_FALSE(after(40).stops(at(41, std::numeric_limits<double>::quiet_NaN()), {}));
  EXPECT_FALSE(after(40).stops(at(41, -std::numeric_limits<double>::infinity()), {}));
}

TEST(EarlyStopping, AsksTheControlsOfTheSameRung) {
  EXPECT_FALSE(after(40).stops(at(41, 0, 6), {}));
}

TEST(EarlyStopping, LearnsNothingFromOthersThanControls) {
  auto early = after(40);
  for (const int other : {41, 42, 43, 44}) {
    early.tell(at(other, 0));
    early.tell(completed(other, 1000));
  }
  EXPECT_FALSE(early.stops(at(46, 120), {}));
  EXPECT_TRUE(early.stops(at(46, 119.9), {}));
}

TEST(EarlyStopping, LeavesOutControlsThatDidNotCompleteOrHaveNoFitnessThere) {
  auto early = after(38);
  EXPECT_TRUE(early.stops(at(41, 118.9), {}));
  early.tell(at(38, 0));
  early.tell(failed(38));
  early.tell(at(39, std::numeric_limits<double>::quiet_NaN()));
  early.tell(completed(39, 1000));
  EXPECT_TRUE(early.stops(at(41, 118.9), {}));
  EXPECT_FALSE(early.stops(at(41, 119), {}));
}

TEST(EarlyStopping, BelievesTheLatestAttempt) {
  auto early = after(39);
  early.tell(at(39, 5));
  early.tell(failed(39, false));
  EXPECT_TRUE(early.stops(at(41, 118.9), {}));
  early.tell(at(39, 105));
  early.tell(completed(39, 1000));
  EXPECT_FALSE(early.stops(at(41, 105), {}));
  EXPECT_TRUE(early.stops(at(41, 104.9), {}));
}

TEST(EarlyStopping, AsksTheLatest80Controls) {
  // The controls up to 300 are 0 … 39 and 40, 45, … 300: 93 of them. The latest 80 begin with 13;
  // good are the upper 40 of those, from 105 on, and the second lowest of them is 110.
  auto early = after(301);
  EXPECT_TRUE(early.stops(at(301, 209.9), {}));
  EXPECT_FALSE(early.stops(at(301, 210), {}));
}

TEST(EarlyStopping, KnowsWithALagTheControlsUpToItAndNoOthers) {
  auto early = after(40);
  const auto earlier = after(40);
  for (const int later : {40, 45, 50}) {
    early.tell(at(later, 1000));
    early.tell(completed(later, 1000));
  }
  for (const double fitness : {119.9, 120.0}) {
    EXPECT_EQ(early.stops(at(44, fitness), 5), earlier.stops(at(44, fitness), 5));
  }
  // Trial 40 is a good one more: 20 is none any more, and the lowest good one is 21.
  EXPECT_FALSE(early.stops(at(46, 120.5), 7));
  EXPECT_TRUE(early.stops(at(46, 120.5), 6));
}

TEST(EarlyStopping, DependsNotOnTheOrderInWhichTheControlsEnd) {
  EarlyStopping backwards;
  for (int i = 39; i >= 0; --i) {
    backwards.tell(at(i, 100 + i));
    backwards.tell(completed(i, i));
  }
  EXPECT_TRUE(backwards.stops(at(41, 119.9), 2));
  EXPECT_FALSE(backwards.stops(at(41, 120), 2));
}

// A run of 120 trials of two rungs with up to `slots` in flight; who gets on next is up to `luck`.
// The epoch at which each trial ended.
std::vector<int> run_shuffled(std::size_t slots, Rng luck) {
  struct InFlight {
    hyp::Trial trial;
    int rungs = 0;
  };
  constexpr int lag = 4;
  Evolution evolution(
      cube(), {.search = "classic", .seed = 4, .population = 12, .generations = 10, .lag = lag});
  EarlyStopping early;
  std::vector<int> ends(120);
  std::vector<InFlight> in_flight;
  const auto end = [&](const std::vector<InFlight>::iterator it, const hyp::Outcome& outcome) {
    ends[it->trial.number] = 1 + it->rungs;
    evolution.tell(outcome);
    early.tell(outcome);
    in_flight.erase(it);
  };
  while (!evolution.done()) {
    while (in_flight.size() < slots) {
      auto trial = evolution.ask();
      if (!trial) break;
      in_flight.push_back({*std::move(trial)});
    }
    const auto last = static_cast<int>(in_flight.size()) - 1;
    const auto it = in_flight.begin() + boost::random::uniform_int_distribution<int>(0, last)(luck);
    const int number = it->trial.number;
    const double fitness = number % 3 == 0 ? 0.0 : peak(it->trial.hyp);
    if (it->rungs == 2) {
      end(it, completed(number, fitness));
      continue;
    }
    const hyp::Rung rung = at(number, fitness * ++it->rungs, it->rungs);
    early.tell(rung);
    if (early.stops(rung, lag)) end(it, stopped(number, rung.fitness));
  }
  return ends;
}

TEST(EarlyStopping, WithALagStopsTheSameTrialsWhateverTheSlotsAndTheOrder) {
  const auto expected = run_shuffled(1, Rng(0));
  EXPECT_GT(std::count(expected.begin(), expected.end(), 2), 5);
  for (const std::size_t slots : {2, 4}) {
    for (std::uint64_t luck = 0; luck < 5; ++luck) {
      EXPECT_EQ(run_shuffled(slots, Rng(luck)), expected) << slots << " slots";
    }
  }
}

TEST(EarlyStopping, LooksAtOthersThanControlsOnlyWhereThereIsAThreshold) {
  const EarlyStopping nothing;
  EXPECT_THAT(nothing.rungs_for(39, 10, {}), ElementsAre(3, 6));
  EXPECT_THAT(nothing.rungs_for(41, 10, {}), IsEmpty());
  const auto early = after(40);  // knows how it is at epoch 3
  EXPECT_THAT(early.rungs_for(41, 10, {}), ElementsAre(3));
  EXPECT_THAT(early.rungs_for(45, 10, {}), ElementsAre(3, 6));
  EXPECT_THAT(early.rungs_for(41, 10, 4), ElementsAre(3));
  EXPECT_THAT(early.rungs_for(41, 10, 5), IsEmpty());  // of 0 … 36 18 are good: too few
}

TEST(EarlyStopping, CountsWhomItStopped) {
  auto early = after(40);
  early.tell(stopped(41, 0.1));
  early.tell(hyp::Outcome{.trial = 42, .result = hyp::Stopped{.epoch = 3}});
  EXPECT_EQ(early.stopped(), 2);
  EXPECT_EQ(early.stopped_epochs(), 4);
}

}  // namespace
}  // namespace evolve::ga

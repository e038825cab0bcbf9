#include "ga/epochs/thaw.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/random/uniform_int_distribution.hpp>
#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "core/error.hpp"
#include "tests/ga/fixtures.hpp"

namespace evolve::ga {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(PausesOf, AreANinthAndAThirdOfTheEpochs) {
  EXPECT_THAT(pauses_of(52), ElementsAre(6, 17));
  EXPECT_THAT(pauses_of(300), ElementsAre(33, 100));
  EXPECT_THAT(pauses_of(9), ElementsAre(1, 3));
  EXPECT_THAT(pauses_of(10), ElementsAre(1, 3));
  EXPECT_THAT(pauses_of(3), ElementsAre(1));
  EXPECT_THAT(pauses_of(2), IsEmpty());
  EXPECT_THAT(pauses_of(1), IsEmpty());
}

// Nothing is learnt on the way: the expected improvement per epoch.
TEST(Price, OfATrainingWithoutARungIsItsImprovementPerEpoch) {
  const double sd = 0.5, phi_0 = 0.3989422804014327;
  EXPECT_NEAR(price({.mean = 1, .sd = sd, .sd_by_rung = sd, .to_rung = 10}, 1), sd * phi_0 / 10,
              1e-12);
  EXPECT_NEAR(price({.mean = 3, .sd = 0, .sd_by_rung = 0, .to_rung = 4}, 1), 0.5, 1e-12);
}

TEST(Price, WithARungThatTellsNothingIsThatWithoutOne) {
  const Prospect whole{.mean = 0, .sd = 1, .sd_by_rung = 1, .to_rung = 9};
  const Prospect blind{.mean = 0, .sd = 1, .sd_by_rung = 0, .to_rung = 1, .to_end = 8};
  EXPECT_NEAR(price(blind, 1), price(whole, 1), 1e-9);
}

// A rung that tells all: the rest is trained where the end is better, and what a look costs is paid
// by the improvement less that rest. E[max(0, e - p 8)] = p, e the improvement.
TEST(Price, WithARungThatTellsAllPaysTheRestWhereItIsWorthIt) {
  const Prospect telling{.mean = 0, .sd = 1, .sd_by_rung = 1, .to_rung = 1, .to_end = 8};
  const double p = price(telling, 1);
  EXPECT_GT(p, 1.5 * price({.mean = 0, .sd = 1, .sd_by_rung = 1, .to_rung = 9}, 1));
  const double z = 1 + 8 * p, gain = std::exp(-0.5 * z * z) / std::sqrt(2 * M_PI) -
                                     z * 0.5 * std::erfc(z / std::sqrt(2.0));
  EXPECT_NEAR(gain, p, 0.05 * p);  // the integral is a sum
}

TEST(Price, IsGreaterTheMoreTheRungTells) {
  double before = 0;
  for (const double told : {0.1, 0.5, 0.9}) {
    const double p = price({.mean = 0, .sd = 1, .sd_by_rung = told, .to_rung = 1, .to_end = 8}, 1);
    EXPECT_GT(p, before);
    before = p;
  }
}

Settings thawing(int max_epochs, std::optional<int> lag = {}) {
  return {.search = "screened", .seed = 3, .lag = lag, .epochs = 9, .max_epochs = max_epochs};
}

// Curves that rise to the peak; after an epoch of 9 a training has more than half of it.
double curve(const hyp::Trial& trial, int epoch) {
  return peak(trial.hyp) * (0.5 + 0.5 * epoch / 9.0);
}

// Trains what was asked for, as far as it is to be trained.
void train(Evolution& evolution, const hyp::Trial& trial,
           const std::function<double(const hyp::Trial&, int)>& fitness = curve) {
  const int end = trial.pause_epoch > 0 ? trial.pause_epoch : 9;
  for (const int look : trial.looks)
    evolution.tell(
        hyp::Rung{.trial = trial.number, .epoch = look, .fitness = fitness(trial, look)});
  if (end == 9) return evolution.tell(completed(trial.number, fitness(trial, 9)));
  evolution.tell({.trial = trial.number,
                  .device = "cpu:0",
                  .result = hyp::Paused{.epoch = end, .fitness = fitness(trial, end)}});
}

// A whole run: the epochs of each trial, and of all.
struct Course {
  std::map<int, int> reached;
  int epochs = 0;
};
Course course(Evolution& evolution) {
  Course course;
  while (const auto trial = evolution.ask()) {
    EXPECT_EQ(trial->start_epoch, course.reached[trial->number]);
    course.reached[trial->number] = trial->pause_epoch > 0 ? trial->pause_epoch : 9;
    course.epochs += course.reached[trial->number] - trial->start_epoch;
    train(evolution, *trial);
  }
  return course;
}

TEST(Thaw, TrainsTheStartToItsEndAndMostSetsNot) {
  Evolution evolution(cube(), thawing(200));
  const auto [reached, epochs] = course(evolution);
  EXPECT_EQ(reached.at(0), 9);
  EXPECT_LE(epochs, 200);
  EXPECT_GT(epochs, 191);
  int whole = 0;
  for (const auto& [trial, last] : reached)
    whole += last == 9 && evolution.genes(trial) != evolution.genes(0);
  EXPECT_GT(std::ssize(reached), 3 * whole);
  EXPECT_TRUE(evolution.done());
  EXPECT_EQ(reached.at(evolution.standing()->best.trial), 9);
}

// So many steps at a time, and what they give is told when all are under way.
int trained_by(int devices, Evolution& evolution,
               const std::function<void(const hyp::Trial&)>& before_it_is_trained = {},
               const std::function<double(const hyp::Trial&, int)>& fitness = curve) {
  int whole = 0;
  std::deque<hyp::Trial> under_way;
  while (!evolution.done()) {
    while (std::ssize(under_way) < devices) {
      auto trial = evolution.ask();
      if (!trial) break;
      under_way.push_back(*std::move(trial));
    }
    whole += under_way.front().pause_epoch == 0;
    if (before_it_is_trained) before_it_is_trained(under_way.front());
    train(evolution, under_way.front(), fitness);
    under_way.pop_front();
  }
  return whole;
}

TEST(Thaw, WithALagSpendsWhatEarlierStepsLeftUnspentAtTheEnd) {
  Evolution one(cube(), thawing(20, 8)), three(cube(), thawing(20, 8));
  EXPECT_EQ(trained_by(1, one), 2);
  EXPECT_EQ(trained_by(3, three), 2);
  ASSERT_EQ(one.asked(), three.asked());
  for (int trial = 0; trial < one.asked(); ++trial)
    EXPECT_EQ(one.genes(trial), three.genes(trial)) << trial;
}

// The last trial has no number at its look, goes on in all epochs that are left, and then fails at
// once: one that is paused can have them.
TEST(Thaw, WithALagGoesOnInWhatLaterStepsLeave) {
  Evolution evolution(cube(), thawing(30, 8));
  std::vector<hyp::Trial> trials;
  while (auto trial = evolution.ask()) trials.push_back(*std::move(trial));
  ASSERT_EQ(evolution.epochs_left(), 6);
  const hyp::Trial last = trials.back();
  trials.pop_back();
  for (const auto& trial : trials) train(evolution, trial);
  evolution.tell(hyp::Rung{.trial = last.number, .epoch = 3, .fitness = std::nan("")});
  EXPECT_EQ(evolution.epochs_left(), 0);
  EXPECT_FALSE(evolution.can_ask());
  evolution.tell({.trial = last.number, .result = hyp::Failed{.epoch = 3}});
  EXPECT_FALSE(evolution.done());
  const auto next = evolution.ask();
  ASSERT_TRUE(next);
  EXPECT_EQ(next->start_epoch, 3);
  EXPECT_EQ(next->pause_epoch, 0);
}

// Trials 1 and 2 begin before the start's looks are known, and have one; begun again after a kill
// they could have two.
TEST(Thaw, WithALagKnowsNothingOfALookThatATrialWasNotToHave) {
  for (const bool start_learns : {true, false}) {
    const auto fitness = [&](const hyp::Trial& trial, int epoch) {
      return trial.number > 0 || start_learns ? curve(trial, epoch) : 0;
    };
    Evolution one(cube(), thawing(150, 3)), other(cube(), thawing(150, 3));
    trained_by(3, one, {}, fitness);
    const auto look = [&](const hyp::Trial& trial) {
      if (trial.number == 1 && trial.start_epoch == 0)
        other.tell(hyp::Rung{.trial = 1, .epoch = 1, .fitness = 0.9});
    };
    trained_by(3, other, look, fitness);
    EXPECT_EQ(other.rungs(1).at(1), 0.9);
    EXPECT_FALSE(one.rungs(1).contains(1));
    ASSERT_EQ(one.asked(), other.asked());
    for (int trial = 0; trial < one.asked(); ++trial)
      EXPECT_EQ(one.genes(trial), other.genes(trial)) << trial;
  }
}

// Between a kill and a failure: without the kill nobody would have looked.
TEST(Thaw, WithALagKnowsNothingOfALookThatTheLastAttemptDidNotReach) {
  const auto trained = [](bool killed_after_a_look) {
    Evolution evolution(cube(), thawing(60, 1));
    std::vector<hyp::Hyperparameters> sets;
    while (const auto trial = evolution.ask()) {
      sets.push_back(trial->hyp);
      if (trial->number != 3 || trial->start_epoch > 0) {
        train(evolution, *trial);
        continue;
      }
      if (killed_after_a_look)
        evolution.tell(hyp::Rung{.trial = 3, .epoch = trial->looks.at(0), .fitness = 0.9});
      evolution.tell(failed(3));
    }
    return sets;
  };
  EXPECT_EQ(trained(true), trained(false));
}

// After an epoch the start has learnt nothing, and what others have there is luck.
double late_curve(const hyp::Trial& trial, int epoch) {
  return epoch == 1 ? 0.1 * (trial.number % 3) : curve(trial, epoch);
}

TEST(Thaw, LooksAtNothingBeforeTheStartHasLearntSomething) {
  Evolution evolution(cube(), thawing(100));
  const hyp::Trial start = *evolution.ask(), second = *evolution.ask();
  EXPECT_THAT(start.looks, ElementsAre(1, 3));
  EXPECT_THAT(second.looks, ElementsAre(3)) << "nothing is known of the start";
  train(evolution, start, late_curve);
  train(evolution, second, late_curve);
  std::set<int> pauses, looks;
  for (auto trial = evolution.ask(); trial; trial = evolution.ask()) {
    pauses.insert(trial->pause_epoch);
    looks.insert(trial->looks.begin(), trial->looks.end());
    train(evolution, *trial, late_curve);
  }
  EXPECT_THAT(looks, ElementsAre(3));
  EXPECT_THAT(pauses, ElementsAre(0, 3));
}

TEST(Thaw, LooksAtNothingWhereTheStartHadNoFitness) {
  Evolution evolution(cube(), thawing(60));
  train(evolution, *evolution.ask(), [](const hyp::Trial& trial, int epoch) {
    return epoch == 1 ? std::nan("") : curve(trial, epoch);
  });
  EXPECT_THAT(evolution.ask()->looks, ElementsAre(3));
}

// What learns nothing has nothing at any look either, and tells of none.
TEST(Thaw, LooksWhereTheFirstThatLearntHadSomethingWhereTheStartLearntNothing) {
  const auto looks_of = [](double at_a_look) {
    Evolution evolution(cube(), thawing(100));
    const auto fitness = [&](const hyp::Trial& trial, int epoch) {
      if (trial.number < 3) return 0.0;
      return (epoch == 9 ? 1 : at_a_look) * peak(trial.hyp);
    };
    for (int trial = 0; trial < 4; ++trial) {
      const auto whole = *evolution.ask();
      EXPECT_EQ(whole.pause_epoch, 0) << trial;
      EXPECT_THAT(whole.looks, ElementsAre(1, 3)) << trial;
      train(evolution, whole, fitness);
    }
    return evolution.ask()->looks;
  };
  EXPECT_THAT(looks_of(0.6), ElementsAre(1));
  EXPECT_THAT(looks_of(0), testing::IsEmpty());
}

// When the start is due again is a matter of epochs, those of failed attempts among them.
TEST(Thaw, WithALagTrainsTheSameWheneverFailedAttemptsAreTold) {
  const auto trained = [](bool told_at_once) {
    Settings settings = thawing(2000, 2);
    settings.seed = 11;
    Evolution evolution(cube(), settings);
    const auto fail_once = [&](const hyp::Trial& trial) {
      const int epoch = trial.pause_epoch > 0 ? trial.pause_epoch : 8;
      evolution.tell(
          {.trial = trial.number, .result = hyp::Failed{.final = false, .epoch = epoch}});
    };
    std::vector<hyp::Trial> trials;
    for (std::size_t ended = 0; trials.size() < 40; ++ended) {
      while (trials.size() < ended + 2) {
        trials.push_back(*evolution.ask());
        if (told_at_once) fail_once(trials.back());
      }
      if (!told_at_once) fail_once(trials[ended]);
      train(evolution, trials[ended]);
    }
    return trials;
  };
  EXPECT_EQ(trained(true), trained(false));
}

TEST(Thaw, TrainsAnotherSetToItsEndWhereTheStartFails) {
  for (const std::optional<int> lag : {std::optional<int>(), std::optional(3)}) {
    Evolution evolution(cube(), thawing(300, lag));
    ASSERT_TRUE(evolution.ask());
    evolution.tell(failed(0));
    int whole = 0;
    while (const auto trial = evolution.ask()) {
      whole += trial->pause_epoch == 0;
      train(evolution, *trial);
    }
    EXPECT_GT(whole, 10);
  }
}

TEST(Thaw, LetsATrialWithoutAFitnessAtItsLookGoOnInEpochsThatNothingElseHas) {
  Evolution evolution(cube(), thawing(30));
  const hyp::Trial start = *evolution.ask();
  train(evolution, start);
  const hyp::Trial second = *evolution.ask(), third = *evolution.ask();
  ASSERT_GT(second.pause_epoch, 0);
  ASSERT_GT(third.pause_epoch, 0);
  const double nothing = std::nan("");
  evolution.tell(
      hyp::Rung{.trial = second.number, .epoch = second.pause_epoch, .fitness = nothing});
  EXPECT_EQ(evolution.end(second.number), 9);
  EXPECT_EQ(evolution.epochs_left(), 30 - 9 - 9 - third.pause_epoch);
  evolution.tell(hyp::Rung{.trial = third.number, .epoch = third.pause_epoch, .fitness = nothing});
  EXPECT_EQ(evolution.end(third.number), 9);
  EXPECT_EQ(evolution.epochs_left(), 3);
}

TEST(Thaw, VariesTheStartOnceALookAtAnotherSetIsFarWorse) {
  Evolution evolution(cube(), thawing(100));
  const auto far_worse = [](const hyp::Trial& trial, int epoch) {
    return trial.number == 1 ? 0.2 : 0.5 + 0.05 * epoch;
  };
  for (int trial = 0; trial < 2; ++trial) train(evolution, *evolution.ask(), far_worse);
  for (int trial = 2; trial < 6; ++trial) {
    const auto next = *evolution.ask();
    EXPECT_EQ(next.hyp.number("g1"), 0) << trial;  // as the start has it
    train(evolution, next, far_worse);
  }
}

TEST(Thaw, LooksEverywhereWhereTheStartEndsBelowZero) {
  Evolution evolution(cube(), thawing(100));
  train(evolution, *evolution.ask(),
        [](const hyp::Trial&, int epoch) { return epoch == 9 ? -1.0 : -3.0; });
  EXPECT_THAT(evolution.ask()->looks, ElementsAre(1));
}

TEST(Thaw, PausesNothingWhereNoLookTellsAnything) {
  Evolution evolution(cube(), thawing(100));
  const auto flat = [](const hyp::Trial& trial, int epoch) {
    return epoch == 9 ? peak(trial.hyp) : 0.0;
  };
  int trials = 0;
  for (auto trial = evolution.ask(); trial; trial = evolution.ask(), ++trials) {
    EXPECT_EQ(trial->pause_epoch, 0);
    train(evolution, *trial, flat);
  }
  EXPECT_EQ(trials, 11) << "as many as 100 epochs give";
}

TEST(Thaw, AsksForNoEpochThatCouldBeTooMuch) {
  Evolution evolution(cube(), thawing(30));
  std::vector<hyp::Trial> under_way;
  int promised = 0;
  while (const auto trial = evolution.ask()) {
    promised += (trial->pause_epoch > 0 ? trial->pause_epoch : 9) - trial->start_epoch;
    under_way.push_back(*trial);
  }
  EXPECT_LE(promised, 30);
  EXPECT_EQ(evolution.epochs_left(), 30 - promised);
  EXPECT_FALSE(evolution.done());
}

// Nothing says what an epoch costs: trials wait while others begin, and all are trained to their
// end.
TEST(Thaw, PausesWhereNothingBoundsTheEpochs) {
  Evolution evolution(
      cube(), {.search = "screened", .seed = 3, .population = 20, .generations = 1, .epochs = 9});
  EXPECT_TRUE(evolution.pausing());
  const auto [reached, epochs] = course(evolution);
  EXPECT_EQ(std::ssize(reached), 20);
  EXPECT_EQ(epochs, 20 * 9);
}

TEST(Thaw, WithALagTrainsAllToTheirEndWhereNothingBoundsTheEpochs) {
  const Settings settings{
      .search = "screened", .seed = 3, .population = 20, .generations = 1, .lag = 8, .epochs = 9};
  Evolution one(cube(), settings), three(cube(), settings);
  EXPECT_EQ(trained_by(1, one), 20);
  EXPECT_EQ(trained_by(3, three), 20);
  EXPECT_EQ(one.ended(), 20);
  EXPECT_EQ(three.ended(), 20);
  for (int trial = 0; trial < 20; ++trial) EXPECT_EQ(one.genes(trial), three.genes(trial)) << trial;
}

TEST(Thaw, IsNotForRunsThatCountSets) {
  Settings settings{.search = "screened", .trials = 20, .epochs = 9};
  EXPECT_FALSE(Evolution(cube(), settings).pausing());
  settings.max_epochs = 180;
  EXPECT_TRUE(Evolution(cube(), settings).pausing());
}

// A run keeps its way: what is paused must be able to go on.
TEST(Thaw, StaysWhenARunIsExtendedByTrials) {
  Evolution paused(cube(), {.search = "screened", .epochs = 9});
  paused.extend(300, 20);
  EXPECT_TRUE(paused.pausing());
  Evolution whole(cube(), {.search = "screened", .trials = 20, .epochs = 9});
  whole.extend(300, 40);
  EXPECT_FALSE(whole.pausing());
  whole.extend(300, {}, 900);
  EXPECT_TRUE(whole.pausing());
}

TEST(Thaw, LetsFortyTrialsWaitAndGivesUpTheWorst) {
  constexpr int many = 1000;
  Evolution evolution(cube(), thawing(many));
  std::map<int, double> waiting;  // what they had at their first rung
  int given_up = 0;
  while (const auto trial = evolution.ask()) {
    waiting.erase(trial->number);
    EXPECT_FALSE(evolution.given_up(trial->number));
    train(evolution, *trial);
    if (trial->pause_epoch == 0) continue;
    waiting[trial->number] = trial->pause_epoch == 1 ? curve(*trial, 1) : 1;
    if (waiting.size() <= 40) continue;
    const auto worst =
        std::ranges::min_element(waiting, {}, [](const auto& one) { return one.second; });
    EXPECT_TRUE(evolution.given_up(worst->first));
    waiting.erase(worst);
    ++given_up;
  }
  EXPECT_GT(given_up, 0);
}

TEST(Thaw, KnowsAnEarlierLifeFromItsStepsAlone) {
  Evolution original(cube(), thawing(150)), again(cube(), thawing(150));
  int gone_on = 0;
  for (int step = 0; step < 30; ++step) {
    const auto trial = original.ask();
    ASSERT_TRUE(trial);
    const auto same = trial->start_epoch > 0 ? again.ask_again(trial->number, trial->pause_epoch)
                                             : again.ask_again(trial->hyp, trial->pause_epoch);
    EXPECT_EQ(*same, *trial);
    EXPECT_EQ(same->start_epoch, trial->start_epoch);
    gone_on += trial->start_epoch > 0;
    train(original, *trial);
    train(again, *trial);
  }
  EXPECT_GT(gone_on, 0);
  const auto next = original.ask(), same = again.ask();
  EXPECT_EQ(*next, *same);
  EXPECT_EQ(next->pause_epoch, same->pause_epoch);
}

TEST(Thaw, WithALagDependsOnNoOrderOfEnds) {
  Evolution one(cube(), thawing(120, 3)), two(cube(), thawing(120, 3));
  std::vector<hyp::Trial> waiting;
  while (const auto trial = one.ask()) {
    const auto same = two.ask();
    ASSERT_TRUE(same);
    EXPECT_EQ(*same, *trial);
    EXPECT_EQ(same->start_epoch, trial->start_epoch);
    EXPECT_EQ(same->pause_epoch, trial->pause_epoch);
    train(one, *trial);
    waiting.push_back(*trial);
    if (waiting.size() < 3) continue;
    for (auto late = waiting.rbegin(); late != waiting.rend(); ++late) train(two, *late);
    waiting.clear();
  }
}

// Up to `slots` steps are under way, and which of them is over next is up to `luck`. Every seventh
// trial fails after an epoch. What was asked for: trial, first and last epoch, set.
using Asked = std::tuple<int, int, int, hyp::Hyperparameters>;
std::vector<Asked> shuffled(Evolution& evolution, std::size_t slots, Rng luck) {
  std::vector<Asked> asked;
  std::vector<hyp::Trial> under_way;
  while (!evolution.done()) {
    while (under_way.size() < slots) {
      const auto trial = evolution.ask();
      if (!trial) break;
      asked.emplace_back(trial->number, trial->start_epoch, trial->pause_epoch, trial->hyp);
      under_way.push_back(*trial);
    }
    const auto last = static_cast<std::ptrdiff_t>(under_way.size()) - 1;
    const auto next =
        under_way.begin() + boost::random::uniform_int_distribution<std::ptrdiff_t>(0, last)(luck);
    if (next->number % 7 == 6)
      evolution.tell({.trial = next->number, .result = hyp::Failed{.epoch = 1}});
    else
      train(evolution, *next);
    under_way.erase(next);
    EXPECT_GE(evolution.epochs_left(), 0);
  }
  EXPECT_LT(evolution.epochs_left(), 9);
  return asked;
}

TEST(Thaw, WithALagIsTheSameWhateverTheSlotsAndTheOrderOfTheEnds) {
  for (int lag = 2; lag <= 6; lag += 2) {
    const Settings settings = thawing(50 + 7 * lag, lag);
    Evolution one(cube(), settings), few(cube(), settings), many(cube(), settings);
    const auto expected = shuffled(one, 1, Rng(0));
    EXPECT_EQ(shuffled(few, 2, Rng(1)), expected) << lag;
    EXPECT_EQ(shuffled(many, static_cast<std::size_t>(lag), Rng(2)), expected) << lag;
  }
}

TEST(Thaw, RefusesToGoOnWithATrialThatIsNotPaused) {
  Evolution evolution(cube(), thawing(150));
  train(evolution, *evolution.ask());
  EXPECT_THROW(evolution.ask_again(0, 3), Error);
}

TEST(Thaw, TrainsWholeTrialsOnceATrainerCannotPause) {
  Evolution evolution(cube(), thawing(90));
  train(evolution, *evolution.ask());
  const auto second = *evolution.ask();
  EXPECT_EQ(second.pause_epoch, 1);
  evolution.cannot_pause();
  EXPECT_EQ(evolution.epochs_left(), 72);
  evolution.tell(completed(second.number, 0.5));
  int more = 0;
  for (; const auto trial = evolution.ask(); ++more) {
    EXPECT_EQ(trial->pause_epoch, 0);
    train(evolution, *trial);
  }
  EXPECT_EQ(more, 8);
}

TEST(Thaw, GivesBackTheEpochsThatAFailureDidNotTake) {
  Evolution evolution(cube(), thawing(90));
  evolution.ask();
  EXPECT_EQ(evolution.epochs_left(), 81);
  evolution.tell({.trial = 0, .result = hyp::Failed{.final = false, .epoch = 4}});
  EXPECT_EQ(evolution.epochs_left(), 77);  // they are trained again
  evolution.tell({.trial = 0, .result = hyp::Failed{.epoch = 2}});
  EXPECT_EQ(evolution.epochs_left(), 84);
}

}  // namespace
}  // namespace evolve::ga

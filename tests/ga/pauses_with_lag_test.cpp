#include <gtest/gtest.h>

#include <boost/random/uniform_int_distribution.hpp>
#include <cstddef>
#include <deque>
#include <functional>
#include <iterator>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/ga/pausing.hpp"

namespace evolve::ga {
namespace {

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

TEST(PausingWithALag, SpendsWhatEarlierStepsLeftUnspentAtTheEnd) {
  Evolution one(cube(), thawing(20, 8)), three(cube(), thawing(20, 8));
  EXPECT_EQ(trained_by(1, one), 2);
  EXPECT_EQ(trained_by(3, three), 2);
  ASSERT_EQ(one.asked(), three.asked());
  for (int trial = 0; trial < one.asked(); ++trial)
    EXPECT_EQ(one.genes(trial), three.genes(trial)) << trial;
}

// The last trial has no number at its look, goes on in all epochs that are left, and then fails at
// once: one that is paused can have them.
TEST(PausingWithALag, GoesOnInWhatLaterStepsLeave) {
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
TEST(PausingWithALag, KnowsNothingOfALookThatATrialWasNotToHave) {
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
TEST(PausingWithALag, KnowsNothingOfALookThatTheLastAttemptDidNotReach) {
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
        evolution.tell(hyp::Rung{.trial = 3, .epoch = trial->rungs.at(0), .fitness = 0.9});
      evolution.tell(failed(3));
    }
    return sets;
  };
  EXPECT_EQ(trained(true), trained(false));
}

// When the start is due again is a matter of epochs, those of failed attempts among them.
TEST(PausingWithALag, TrainsTheSameWheneverFailedAttemptsAreTold) {
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

TEST(PausingWithALag, TrainsAllToTheirEndWhereNothingBoundsTheEpochs) {
  const Settings settings{
      .search = "screened", .seed = 3, .population = 20, .generations = 1, .lag = 8, .epochs = 9};
  Evolution one(cube(), settings), three(cube(), settings);
  EXPECT_EQ(trained_by(1, one), 20);
  EXPECT_EQ(trained_by(3, three), 20);
  EXPECT_EQ(one.ended(), 20);
  EXPECT_EQ(three.ended(), 20);
  for (int trial = 0; trial < 20; ++trial) EXPECT_EQ(one.genes(trial), three.genes(trial)) << trial;
}

TEST(PausingWithALag, DependsOnNoOrderOfEnds) {
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

TEST(PausingWithALag, IsTheSameWhateverTheSlotsAndTheOrderOfTheEnds) {
  for (int lag = 2; lag <= 6; lag += 2) {
    const Settings settings = thawing(50 + 7 * lag, lag);
    Evolution one(cube(), settings), few(cube(), settings), many(cube(), settings);
    const auto expected = shuffled(one, 1, Rng(0));
    EXPECT_EQ(shuffled(few, 2, Rng(1)), expected) << lag;
    EXPECT_EQ(shuffled(many, static_cast<std::size_t>(lag), Rng(2)), expected) << lag;
  }
}

}  // namespace
}  // namespace evolve::ga

#include "ga/pauses.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "core/error.hpp"
#include "tests/ga/pausing.hpp"

namespace evolve::ga {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::Ge;
using testing::IsEmpty;
using testing::SizeIs;

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

TEST(Pausing, TrainsTheStartToItsEndAndMostSetsNot) {
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

// After an epoch the start has learnt nothing, and what others have there is luck.
double late_curve(const hyp::Trial& trial, int epoch) {
  return epoch == 1 ? 0.1 * (trial.number % 3) : curve(trial, epoch);
}

TEST(Pausing, LooksAtNothingBeforeTheStartHasLearntSomething) {
  Evolution evolution(cube(), thawing(100));
  const hyp::Trial start = *evolution.ask(), second = *evolution.ask();
  EXPECT_THAT(start.rungs, ElementsAre(1, 3));
  EXPECT_THAT(second.rungs, ElementsAre(3)) << "nothing is known of the start";
  train(evolution, start, late_curve);
  train(evolution, second, late_curve);
  std::set<int> pauses, rungs;
  for (auto trial = evolution.ask(); trial; trial = evolution.ask()) {
    pauses.insert(trial->pause_epoch);
    rungs.insert(trial->rungs.begin(), trial->rungs.end());
    train(evolution, *trial, late_curve);
  }
  EXPECT_THAT(rungs, ElementsAre(3));
  EXPECT_THAT(pauses, ElementsAre(0, 3));
}

TEST(Pausing, LooksAtNothingWhereTheStartHadNoFitness) {
  Evolution evolution(cube(), thawing(60));
  train(evolution, *evolution.ask(), [](const hyp::Trial& trial, int epoch) {
    return epoch == 1 ? std::nan("") : curve(trial, epoch);
  });
  EXPECT_THAT(evolution.ask()->rungs, ElementsAre(3));
}

// What learns nothing has nothing at any rung either, and tells of none.
TEST(Pausing, LooksWhereTheFirstThatLearntHadSomethingWhereTheStartLearntNothing) {
  const auto rungs_after = [](double at_a_rung) {
    Evolution evolution(cube(), thawing(100));
    const auto fitness = [&](const hyp::Trial& trial, int epoch) {
      if (trial.number < 3) return 0.0;
      return (epoch == 9 ? 1 : at_a_rung) * peak(trial.hyp);
    };
    for (int trial = 0; trial < 4; ++trial) {
      const auto whole = *evolution.ask();
      EXPECT_EQ(whole.pause_epoch, 0) << trial;
      EXPECT_THAT(whole.rungs, ElementsAre(1, 3)) << trial;
      train(evolution, whole, fitness);
    }
    return evolution.ask()->rungs;
  };
  EXPECT_THAT(rungs_after(0.6), ElementsAre(1));
  EXPECT_THAT(rungs_after(0), IsEmpty());
}

TEST(Pausing, TrainsAnotherSetToItsEndWhereTheStartFails) {
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

// Of the first that learns something its rungs are known, of what failed none.
TEST(Pausing, LooksWhereTheFirstThatLearntHadSomethingWhereTheStartFails) {
  const auto pauses_of_a_run = [](const auto& fitness) {
    Evolution evolution(cube(), thawing(100));
    evolution.ask();
    evolution.tell(failed(0));
    std::set<int> pauses;
    for (auto trial = evolution.ask(); trial; trial = evolution.ask()) {
      if (trial->number == 1) {
        EXPECT_THAT(trial->rungs, ElementsAre(1, 3));
      }
      pauses.insert(trial->pause_epoch);
      train(evolution, *trial, fitness);
    }
    return pauses;
  };
  EXPECT_THAT(pauses_of_a_run(late_curve), ElementsAre(0, 3));
  EXPECT_THAT(pauses_of_a_run(curve), testing::Contains(1));
  EXPECT_THAT(
      pauses_of_a_run([](const hyp::Trial& trial, int epoch) { return curve(trial, epoch) - 3; }),
      testing::Contains(1))
      << "a share of a fitness below 0 means nothing";
}

TEST(Pausing, LetsATrialWithoutAFitnessAtItsLookGoOnInEpochsThatNothingElseHas) {
  Evolution evolution(cube(), thawing(30));
  const hyp::Trial start = *evolution.ask();
  train(evolution, start);
  const hyp::Trial second = *evolution.ask(), third = *evolution.ask();
  ASSERT_GT(second.pause_epoch, 0);
  ASSERT_GT(third.pause_epoch, 0);
  const double nothing = std::nan("");
  evolution.tell(
      hyp::Rung{.trial = second.number, .epoch = second.pause_epoch, .fitness = nothing});
  EXPECT_EQ(evolution.last_epoch(second.number), 9);
  EXPECT_EQ(evolution.epochs_left(), 30 - 9 - 9 - third.pause_epoch);
  evolution.tell(hyp::Rung{.trial = third.number, .epoch = third.pause_epoch, .fitness = nothing});
  EXPECT_EQ(evolution.last_epoch(third.number), 9);
  EXPECT_EQ(evolution.epochs_left(), 3);
}

TEST(Pausing, VariesTheStartOnceALookAtAnotherSetIsFarWorse) {
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

TEST(Pausing, LooksEverywhereWhereTheStartEndsBelowZero) {
  Evolution evolution(cube(), thawing(100));
  train(evolution, *evolution.ask(),
        [](const hyp::Trial&, int epoch) { return epoch == 9 ? -1.0 : -3.0; });
  EXPECT_THAT(evolution.ask()->rungs, ElementsAre(1));
}

TEST(Pausing, PausesNothingWhereNoLookTellsAnything) {
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

TEST(Pausing, TrainsTheBestAgainInTheLastFifthWhereNoLookTellsAnything) {
  constexpr int trainings = 60;
  Evolution evolution(cube(), thawing(9 * trainings));
  const auto flat_and_lucky = [](const hyp::Trial& trial, int epoch) {
    const double luck = 0.2 * static_cast<double>(trial.seed % 97) / 97;
    return epoch == 9 ? 1 + peak(trial.hyp) + luck : 0.0;
  };
  std::map<hyp::Genes, int> first;
  std::vector<int> again;
  for (auto trial = evolution.ask(); trial; trial = evolution.ask()) {
    const auto& genes = evolution.genes(trial->number);
    if (!first.emplace(genes, trial->number).second && genes != evolution.genes(0))
      again.push_back(trial->number);
    train(evolution, *trial, flat_and_lucky);
  }
  EXPECT_THAT(again, AllOf(SizeIs(Ge(4)), Each(Ge(trainings - trainings / 5))));
}

TEST(Pausing, AsksForNoEpochThatCouldBeTooMuch) {
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
TEST(Pausing, PausesWhereNothingBoundsTheEpochs) {
  Evolution evolution(
      cube(), {.search = "screened", .seed = 3, .population = 20, .generations = 1, .epochs = 9});
  EXPECT_TRUE(evolution.pausing());
  const auto [reached, epochs] = course(evolution);
  EXPECT_EQ(std::ssize(reached), 20);
  EXPECT_EQ(epochs, 20 * 9);
}

TEST(Pausing, IsNotForRunsThatCountSets) {
  Settings settings{.search = "screened", .trials = 20, .epochs = 9};
  EXPECT_FALSE(Evolution(cube(), settings).pausing());
  settings.max_epochs = 180;
  EXPECT_TRUE(Evolution(cube(), settings).pausing());
}

// A run keeps its way: what is paused must be able to go on.
TEST(Pausing, StaysWhenARunIsExtendedByTrials) {
  Evolution paused(cube(), {.search = "screened", .epochs = 9});
  paused.extend(300, 20);
  EXPECT_TRUE(paused.pausing());
  Evolution whole(cube(), {.search = "screened", .trials = 20, .epochs = 9});
  whole.extend(300, 40);
  EXPECT_FALSE(whole.pausing());
  whole.extend(300, {}, 900);
  EXPECT_TRUE(whole.pausing());
}

TEST(Pausing, LetsFortyTrialsWaitAndGivesUpTheWorst) {
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

TEST(Pausing, KnowsAnEarlierLifeFromItsStepsAlone) {
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

TEST(Pausing, RefusesToGoOnWithATrialThatIsNotPaused) {
  Evolution evolution(cube(), thawing(150));
  train(evolution, *evolution.ask());
  EXPECT_THROW(evolution.ask_again(0, 3), Error);
}

TEST(Pausing, TrainsWholeTrialsOnceATrainerCannotPause) {
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

TEST(Pausing, CountsTheEpochsOnceMoreOfATrialThatBeginsAnew) {
  Evolution evolution(cube(), thawing(90));
  train(evolution, *evolution.ask());
  train(evolution, *evolution.ask());  // paused after an epoch
  ASSERT_TRUE(evolution.ask_again(1, 0));
  EXPECT_EQ(evolution.epochs_left(), 72);
  for (int again = 0; again < 2; ++again) {
    evolution.begin_again(1, /*anew=*/true);
    EXPECT_EQ(evolution.epochs_left(), 71);
  }
  evolution.begin_again(1, /*anew=*/false);
  EXPECT_EQ(evolution.epochs_left(), 72);
  evolution.begin_again(1, /*anew=*/true);
  evolution.tell({.trial = 1, .result = hyp::Failed{.final = false}});
  EXPECT_EQ(evolution.epochs_left(), 72) << "it had not trained an epoch";
  evolution.begin_again(1, /*anew=*/true);
  evolution.tell({.trial = 1, .result = hyp::Failed{.final = false, .epoch = 4}});
  EXPECT_EQ(evolution.epochs_left(), 68) << "four are lost";
  evolution.begin_again(1, /*anew=*/true);
  evolution.tell(completed(1, 0.5));
  EXPECT_EQ(evolution.epochs_left(), 67);
}

TEST(Pausing, GivesBackTheEpochsThatAFailureDidNotTake) {
  Evolution evolution(cube(), thawing(90));
  evolution.ask();
  EXPECT_EQ(evolution.epochs_left(), 81);
  evolution.tell({.trial = 0, .result = hyp::Failed{.final = false, .epoch = 4}});
  EXPECT_EQ(evolution.epochs_left(), 77);  // they are trained again
  evolution.tell({.trial = 0, .result = hyp::Failed{.epoch = 2}});
  EXPECT_EQ(evolution.epochs_left(), 84);
}

TEST(Pausing, LetsNoTrialWithoutAFitnessAtItsLookGoOnInEpochsThatAreNotThere) {
  Evolution evolution(cube(), thawing(21));
  train(evolution, *evolution.ask());
  const hyp::Trial second = *evolution.ask(), third = *evolution.ask();
  ASSERT_EQ(second.pause_epoch, 1);
  ASSERT_EQ(third.pause_epoch, 1);
  const double nothing = std::nan("");
  evolution.tell(hyp::Rung{.trial = second.number, .epoch = 1, .fitness = nothing});
  evolution.tell(hyp::Rung{.trial = third.number, .epoch = 1, .fitness = nothing});
  EXPECT_EQ(evolution.last_epoch(second.number), 9);
  EXPECT_EQ(evolution.last_epoch(third.number), 1);
  EXPECT_EQ(evolution.epochs_left(), 2);
}

}  // namespace
}  // namespace evolve::ga

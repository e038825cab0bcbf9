#include "ga/evolution.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

#include "tests/ga/fixtures.hpp"
#include "tests/refusal.hpp"

namespace evolve::ga {
namespace {

using test::refusal;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Evolution, StartsWithTheStart) {
  Evolution evolution(cube(), {.search = "classic", .seed = 1});
  const auto trial = evolution.ask();
  ASSERT_TRUE(trial);
  EXPECT_EQ(trial->number, 0);
  EXPECT_EQ(trial->generation, 0);
  EXPECT_EQ(trial->hyp, (hyp::Hyperparameters{{"g0", 0.1}, {"g1", 0.0}, {"g2", 0.01}}));
  EXPECT_EQ(trial->seed, training_seed(1, 0));
}

TEST(Evolution, ThenTrainsTheGivenSets) {
  const hyp::Hyperparameters inside = {{"g0", 0.5}, {"g1", 1.0}, {"g2", 0.1}};
  const hyp::Hyperparameters outside = {{"g0", 7.0}, {"g1", -7.0}, {"g2", 0.0}, {"other", 1.0}};
  const hyp::Hyperparameters partial = {{"g1", 2.0}};
  Evolution evolution(cube(), {.search = "classic", .population = 4}, {inside, outside, partial});
  evolution.ask();
  EXPECT_EQ(evolution.ask()->hyp, inside);
  EXPECT_EQ(evolution.ask()->hyp, (hyp::Hyperparameters{{"g0", 1.0}, {"g1", -5.0}, {"g2", 1e-5}}));
  EXPECT_EQ(evolution.ask()->hyp, (hyp::Hyperparameters{{"g0", 0.1}, {"g1", 2.0}, {"g2", 0.01}}));
}

TEST(Evolution, KeepsFixedGenesAtTheirStart) {
  hyp::Space space = cube();
  space.genes[1].evolve = false;
  Evolution evolution(space, {.search = "classic", .population = 5, .generations = 4},
                      {{{"g0", 0.5}, {"g1", 3.0}}});
  for (const hyp::Trial& trial : run(evolution)) EXPECT_EQ(trial.hyp.number("g1"), 0);
}

TEST(Evolution, FillsTheFirstGenerationWithRandomSets) {
  Evolution told(cube(), {.search = "classic", .seed = 3, .population = 20, .generations = 2});
  Evolution untold(cube(), {.search = "classic", .seed = 3, .population = 20, .generations = 2});
  for (int trial = 0; trial < 20; ++trial) {
    const auto asked = told.ask();
    EXPECT_EQ(*asked, *untold.ask());  // whatever is known
    told.tell(completed(trial, peak(asked->hyp)));
  }
  EXPECT_FALSE(*told.ask() == *untold.ask());
}

TEST(Evolution, CountsGenerationsByTrials) {
  Evolution evolution(cube(), {.search = "classic", .population = 3, .generations = 4});
  EXPECT_EQ(evolution.planned(), 12);
  std::vector<int> generations;
  for (const hyp::Trial& trial : run(evolution)) generations.push_back(trial.generation);
  EXPECT_THAT(generations, ElementsAre(0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3));
  EXPECT_TRUE(evolution.done());
}

TEST(Evolution, NeverWaitsForTheRestOfAGeneration) {
  Evolution evolution(cube(), {.search = "classic", .population = 4, .generations = 3});
  for (int trial = 0; trial < 12; ++trial) ASSERT_TRUE(evolution.ask());
  EXPECT_FALSE(evolution.ask());
  EXPECT_EQ(evolution.asked(), 12);
  EXPECT_EQ(evolution.ended(), 0);
  for (int trial = 11; trial >= 0; --trial) {
    EXPECT_FALSE(evolution.done());
    evolution.tell(completed(trial, 0.1));
  }
  EXPECT_TRUE(evolution.done());
}

TEST(Evolution, StopsAtTheTrialsThatWereAskedFor) {
  EXPECT_EQ(
      Evolution(cube(), {.search = "classic", .population = 10, .generations = 10, .trials = 25})
          .planned(),
      25);
  EXPECT_EQ(
      Evolution(cube(), {.search = "classic", .population = 10, .generations = 2, .trials = 25})
          .planned(),
      20);
  EXPECT_EQ(
      Evolution(cube(),
                {.search = "classic", .population = 2'000'000'000, .generations = 2'000'000'000})
          .planned(),
      std::numeric_limits<int>::max());
}

TEST(Evolution, GivesTheSameTrialsForTheSameOutcomes) {
  const Settings settings = {.search = "classic", .seed = 5, .population = 10, .generations = 10};
  Evolution one(cube(), settings), two(cube(), settings);
  EXPECT_EQ(run(one), run(two));
}

TEST(Evolution, GivesOtherTrialsForAnotherSeed) {
  Evolution one(cube(), {.search = "classic", .seed = 5, .population = 10, .generations = 2});
  Evolution two(cube(), {.search = "classic", .seed = 6, .population = 10, .generations = 2});
  const auto a = run(one), b = run(two);
  EXPECT_EQ(a[0].hyp, b[0].hyp);
  for (std::size_t i = 1; i < a.size(); ++i) EXPECT_FALSE(a[i].hyp == b[i].hyp);
}

TEST(Evolution, IsRebuiltByReplayingItsAsksAndTells) {
  const Settings settings = {.search = "classic", .seed = 7, .population = 5, .generations = 20};
  Evolution original(cube(), settings), replayed(cube(), settings);
  std::vector<hyp::Trial> in_flight;
  for (int step = 0; step < 60; ++step) {
    in_flight.push_back(*original.ask());
    EXPECT_EQ(*replayed.ask(), in_flight.back());
    if (in_flight.size() < 4) continue;
    const auto at = in_flight.begin() + step % 4;  // they end in another order than they began
    const auto outcome = step % 7 == 0 ? failed(at->number) : completed(at->number, peak(at->hyp));
    original.tell(outcome);
    replayed.tell(outcome);
    in_flight.erase(at);
  }
  EXPECT_EQ(original.population(), replayed.population());
  EXPECT_EQ(*original.ask(), *replayed.ask());
}

TEST(Evolution, ImprovesOnTheStart) {
  Evolution evolution(cube(),
                      {.search = "classic", .seed = 1, .population = 20, .generations = 20});
  run(evolution);
  EXPECT_GT(evolution.best()->fitness, 0.64);  // the start has 0.35, the peak 0.65
}

TEST(Evolution, KeepsTheFirstToldAmongTheBest) {
  Evolution evolution(cube(), {.search = "classic", .population = 5});
  EXPECT_FALSE(evolution.best());
  for (int i = 0; i < 4; ++i) evolution.ask();
  evolution.tell(completed(3, 0.2));
  evolution.tell(completed(2, 0.7));
  evolution.tell(completed(0, 0.7));
  evolution.tell(completed(1, 0.6));
  EXPECT_EQ(evolution.best()->trial, 2);
  EXPECT_EQ(evolution.best()->fitness, 0.7);
}

TEST(Evolution, KeepsElitesWithTheFitnessTheyHaveAndTrainsThemNoMore) {
  Evolution evolution(cube(), {.search = "classic", .population = 5, .generations = 10});
  const auto trials = run(evolution, [n = 0](const auto&) mutable { return 1.0 / ++n; });
  EXPECT_THAT(numbers_of(evolution.population()), ElementsAre(0, 1, 2, 3, 4, 45, 46, 47, 48, 49));
  EXPECT_EQ(evolution.population()[1].fitness, 0.5);
  for (std::size_t i = 1; i < trials.size(); ++i) EXPECT_FALSE(trials[i].hyp == trials[0].hyp);
}

TEST(Evolution, GoesOnWhenAnAttemptFailed) {
  Evolution one(cube(), {.search = "classic", .population = 4, .generations = 4}),
      two(cube(), {.search = "classic", .population = 4, .generations = 4});
  one.ask(), two.ask();
  one.tell(failed(0, false));
  EXPECT_EQ(one.ended(), 0);
  one.tell(completed(0, 0.4));
  two.tell(completed(0, 0.4));
  EXPECT_EQ(one.ended(), 1);
  EXPECT_EQ(run(one), run(two));
}

TEST(Evolution, NeverBreedsFromWhatDidNotComplete) {
  Evolution evolution(cube(), {.search = "classic", .population = 6, .generations = 10});
  while (const auto trial = evolution.ask()) {
    switch (trial->number % 6) {
      case 0:
        evolution.tell(failed(trial->number));
        break;
      case 1:
        evolution.tell(stopped(trial->number, 9));
        break;
      case 2:
        evolution.tell(completed(trial->number, std::nan("")));
        break;
      case 3:
        evolution.tell(completed(trial->number, std::numeric_limits<double>::infinity()));
        break;
      default:
        evolution.tell(completed(trial->number, 0.01 * trial->number));
    }
    for (const Individual& parent : evolution.population()) EXPECT_GE(parent.trial % 6, 4);
  }
  EXPECT_EQ(evolution.best()->trial, 59);
  EXPECT_EQ(evolution.ended(), 60);
  EXPECT_TRUE(evolution.done());
}

TEST(Evolution, IsRandomAsLongAsNothingCompletes) {
  Evolution failing(cube(), {.search = "classic", .seed = 2, .population = 3, .generations = 10});
  Evolution silent(cube(), {.search = "classic", .seed = 2, .population = 3, .generations = 10});
  for (int trial = 0; trial < 30; ++trial) {
    EXPECT_EQ(*failing.ask(), *silent.ask());
    failing.tell(failed(trial));
  }
  EXPECT_TRUE(failing.done());
  EXPECT_FALSE(failing.best());
  EXPECT_TRUE(failing.population().empty());
}

TEST(Evolution, GoesOnWhenExtended) {
  Evolution evolution(cube(), {.search = "classic", .population = 5, .generations = 2});
  run(evolution);
  EXPECT_TRUE(evolution.done());
  evolution.extend(4, std::nullopt);
  EXPECT_FALSE(evolution.done());
  EXPECT_EQ(evolution.planned(), 20);
  EXPECT_EQ(evolution.settings().generations, 4);
  EXPECT_EQ(run(evolution).size(), 10U);
  evolution.extend(4, 3);
  EXPECT_EQ(evolution.planned(), 20);  // what was asked for cannot be taken back
  EXPECT_TRUE(evolution.done());
}

TEST(Evolution, ExtendedBeforeItBeginsIsOneOfThatLength) {
  Evolution extended(cube(), {.search = "classic", .population = 5, .generations = 2}),
      longer(cube(), {.search = "classic", .population = 5, .generations = 9});
  extended.extend(9, std::nullopt);
  EXPECT_EQ(run(extended), run(longer));
}

TEST(Evolution, RefusesSettingsOutOfRange) {
  const auto making = [](const Settings& settings) { return [=] { Evolution(cube(), settings); }; };
  EXPECT_THAT(refusal(making({.search = "classic", .population = 0})),
              HasSubstr("--population 0: "));
  EXPECT_THAT(refusal(making({.generations = -1})), HasSubstr("--generations -1: "));
  EXPECT_THAT(refusal(making({.trials = 0})), HasSubstr("--trials 0: "));
  EXPECT_THAT(refusal(making({.epochs = 0})), HasSubstr("--epochs 0: "));
  EXPECT_THAT(refusal(making({.lag = 0})), HasSubstr("--lag 0: "));
  EXPECT_EQ(refusal(making({.search = "magic"})),
            "--search magic: there is no such search; write screened or classic");
  EXPECT_THAT(refusal([] { Evolution(cube(), {.search = "classic"}).extend(0, std::nullopt); }),
              HasSubstr("--generations 0: "));
  EXPECT_THAT(refusal([] { Evolution(cube(), {.search = "classic"}).extend(1, 0); }),
              HasSubstr("--trials 0: "));
}

TEST(Evolution, RefusesGenesThatMakeNoSense) {
  const auto refused = [](const hyp::Gene& gene) {
    auto space = cube();
    space.genes.push_back(gene);
    return refusal([&] { Evolution evolution(space, {}); }).starts_with("hyperparameter x: ");
  };
  EXPECT_FALSE(refused({.name = "x"}));
  EXPECT_TRUE(refused({.name = "x", .scale = hyp::Gene::Scale::log}));
  EXPECT_TRUE(refused({.name = "x", .high = std::nan("")}));
  EXPECT_TRUE(refused({.name = "x", .start = 2}));
  const hyp::Gene choices{
      .name = "x", .kind = hyp::Gene::Kind::categorical, .high = 2, .choices = {"a", "b", "c"}};
  EXPECT_FALSE(refused(choices));
  auto fewer = choices;
  fewer.choices.pop_back();
  EXPECT_TRUE(refused(fewer));
  auto twice = cube();
  twice.genes.push_back(twice.genes[0]);
  EXPECT_THAT(refusal([&] { Evolution evolution(twice, {}); }), HasSubstr("it is there twice"));
}

TEST(Evolution, RefusesASpaceInWhichNothingEvolves) {
  hyp::Space space = cube();
  for (hyp::Gene& gene : space.genes) gene.evolve = false;
  EXPECT_THAT(refusal([&] { Evolution(space, {.search = "classic"}); }),
              HasSubstr("no gene evolves; "));
}

TEST(Evolution, RefusesOutcomesOfTrialsThatDoNotRun) {
  Evolution evolution(cube(), {.search = "classic"});
  evolution.ask();
  EXPECT_THAT(refusal([&] { evolution.tell(completed(1, 0.5)); }), HasSubstr("trial 1 "));
  EXPECT_THAT(refusal([&] { evolution.tell(completed(-1, 0.5)); }), HasSubstr("trial -1 "));
  evolution.tell(completed(0, 0.5));
  EXPECT_THAT(refusal([&] { evolution.tell(completed(0, 0.6)); }),
              HasSubstr("trial 0 ended twice"));
  EXPECT_EQ(evolution.best()->fitness, 0.5);
  EXPECT_THAT(refusal([&] { evolution.begin_repeat(0, 0); }), HasSubstr("repeat 0; count"));
  EXPECT_THROW(evolution.begin_again(1, true), std::out_of_range);
  EXPECT_THROW(evolution.last_epoch(-1), std::out_of_range);
}

TEST(Evolution, MovesLikeAValue) {
  Evolution a(cube(), {.search = "classic", .population = 5, .generations = 2});
  a.ask();
  Evolution b = std::move(a);
  EXPECT_EQ(b.ask()->number, 1);
  a = std::move(b);
  EXPECT_EQ(a.ask()->number, 2);
}

}  // namespace
}  // namespace evolve::ga

// What is recommended where sets are far worse than others, or a fitness is below 0.

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_real_distribution.hpp>
#include <cmath>

#include "ga/classic/operators.hpp"
#include "ga/recommendation.hpp"
#include "tests/ga/fixtures.hpp"

namespace evolve::ga {
namespace {

// Of fitnesses that are losses 0 is the best.
TEST(Recommendation, KnowsTheSetsThatEndAt0WhereOthersEndBelow) {
  const hyp::Space space = space_of(std::vector<hyp::Gene>(3, real(0, 1, 0.1)));
  const hyp::Genes start = hyp::genes_of(space, {});
  History history(space.genes);
  Rng rng = breeding_rng(1, 0);
  boost::random::uniform_real_distribution<double> anywhere(0, 1);
  for (int i = 0; i < 40; ++i) {
    hyp::Genes genes = start;
    if (i > 0) std::ranges::generate(genes, [&] { return anywhere(rng); });
    const double fitness = std::min(0.0, 0.2 - std::abs(genes[0] - 0.5));
    history.add(genes, {Observation::Ending::completed, fitness, i});
  }
  const auto now = *standing(space.genes, history, start);
  EXPECT_NEAR(now.best.expectation.mean, 0, 0.02);
  EXPECT_GT(now.better, 0.95);
}

// To the model it is as bad as the worst of the others.
TEST(Recommendation, ExpectsNothingOfAStartThatLearntNothing) {
  Evolution evolution(cube(), {.search = "screened", .trials = 20});
  while (const auto trial = evolution.ask()) {
    const bool is_start = trial->hyp == hyp::start_of(cube());
    evolution.tell(completed(trial->number, is_start ? 0 : peak(trial->hyp)));
  }
  const Standing standing = *evolution.standing();
  EXPECT_EQ(standing.start->expectation.high, 0);
  EXPECT_GT(standing.best.expectation.low, 0.3);
}

TEST(Recommendation, IsNeverAStartThatLearntNothingWhereOthersDid) {
  boost::random::uniform_real_distribution<double> fitness(0.2, 0.5);
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    Evolution evolution(cube(), {.search = "screened", .seed = seed, .trials = 6});
    Rng rng = breeding_rng(seed, 1 << 20);
    while (const auto trial = evolution.ask())
      evolution.tell(completed(trial->number, trial->number == 0 ? 0 : fitness(rng)));
    const Standing standing = *evolution.standing();
    EXPECT_NE(standing.best.trial, 0) << seed;
    EXPECT_EQ(standing.start->trial, 0) << seed;
    EXPECT_EQ(standing.better, 1) << seed;
  }
}

/// 40 trainings of three genes, the start's first and once more, whose fitness is a loss below 0: a
/// hundred times as low for the start as for the best, with luck of a twentieth.
History losses() {
  const hyp::Space space = space_of(std::vector<hyp::Gene>(3, real(0, 1, 0.1)));
  const hyp::Genes start = hyp::genes_of(space, {});
  History history(space.genes);
  Rng rng = breeding_rng(1, 0);
  boost::random::uniform_real_distribution<double> near(0.35, 0.65);
  boost::random::normal_distribution<double> luck(1, 0.05);
  for (int i = 0; i < 40; ++i) {
    hyp::Genes genes = start;
    if (i > 0 && i != 13) std::ranges::generate(genes, [&] { return near(rng); });
    double loss = 0;
    for (const double gene : genes) loss += (gene - 0.5) * (gene - 0.5);
    history.add(genes, {Observation::Ending::completed, -(0.01 + 2 * loss) * luck(rng), i});
  }
  return history;
}

// To the model it is as far below the others as anything is told.
TEST(Recommendation, ExpectsOfAStartFarBelow0WhatItGave) {
  History history = losses();
  const hyp::Space space = space_of(std::vector<hyp::Gene>(3, real(0, 1, 0.1)));
  const auto now = *standing(space.genes, history, hyp::genes_of(space, {}));
  EXPECT_NEAR(now.start->expectation.mean, -0.97, 0.1);
  EXPECT_LT(now.start->expectation.low, now.start->expectation.high);
  EXPECT_EQ(now.better, 1);
}

// Sixty-four sets, most of them trained: lengths that are drawn out would take what they are for
// luck.
TEST(Recommendation, TakesNothingThatTheSetsOfASmallSpaceAreForLuck) {
  const hyp::Space space = space_of(std::vector<hyp::Gene>(3, integer(1, 4, 1)));
  const auto fitness = [](const hyp::Genes& genes) {
    double distance = 0;
    for (const double gene : genes) distance += (gene - 3) * (gene - 3);
    return 0.05 + 0.45 * std::exp(-0.35 * distance);
  };
  Evolution evolution(space, {.search = "screened", .trials = 50});
  while (const auto trial = evolution.ask())
    evolution.tell(completed(trial->number, fitness(evolution.genes(trial->number))));
  const Standing standing = *evolution.standing();
  EXPECT_NEAR(standing.best.expectation.mean, 0.5, 0.01);
  EXPECT_LT(standing.training_sd, 0.02);
}

}  // namespace
}  // namespace evolve::ga

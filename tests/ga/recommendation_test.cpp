#include "ga/recommendation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_real_distribution.hpp>
#include <cmath>
#include <optional>

#include "ga/classic/operators.hpp"
#include "tests/ga/fixtures.hpp"

namespace evolve::ga {
namespace {

/// Twelve trainings, the start's among them, with luck of that standard deviation, both in a unit
/// of fitness.
Standing standing_of(std::uint64_t seed, double luck, double unit = 1) {
  Evolution evolution(cube(), {.search = "screened", .seed = seed, .trials = 12});
  Rng rng = breeding_rng(seed, 1 << 20);
  boost::random::normal_distribution<double> normal(0, luck);
  while (const auto trial = evolution.ask())
    evolution.tell(completed(trial->number, unit * (peak(trial->hyp) + normal(rng))));
  return *evolution.standing();
}

TEST(Recommendation, IsTheSameInAnyUnitOfFitness) {
  const Standing plain = standing_of(1, 0.2);
  for (const double unit : {1e-200, 1e200}) {
    const Standing other = standing_of(1, 0.2, unit);
    EXPECT_EQ(other.best.trial, plain.best.trial) << unit;
    EXPECT_NEAR(other.training_sd / unit, plain.training_sd, 1e-6) << unit;
    EXPECT_NEAR(other.best.expectation.high / unit, plain.best.expectation.high, 1e-6) << unit;
  }
}

TEST(Recommendation, IsTheStartUnlessASetIsBetterWithEvidence) {
  int starts = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Standing standing = standing_of(seed, 0.2);
    const bool is_start = standing.best.trial == 0;
    starts += is_start;
    if (is_start) {
      EXPECT_EQ(standing.better, 0) << seed;
    } else {
      EXPECT_GE(standing.better, least_probability_better) << seed;
    }
  }
  EXPECT_GT(starts, 0);
  EXPECT_LT(starts, 20);
}

// Without luck one of twelve genes makes all others worse than the start. That has to be seen from
// few trainings, or the start is expected to be as bad as they are.
TEST(Recommendation, TakesWhatOneGeneExplainsForNoLuckAfterAFewTrainings) {
  const hyp::Space space = space_of(std::vector<hyp::Gene>(12, real(0, 1, 0.5)));
  const hyp::Genes start = hyp::genes_of(space, {});
  const auto expected_of_start = [&](int trainings) {
    constexpr int runs = 20;
    double sum = 0;
    for (std::uint64_t seed = 0; seed < runs; ++seed) {
      History history(space.genes);
      Rng rng = breeding_rng(seed, 0);
      boost::random::uniform_real_distribution<double> near(0.3, 0.7);
      for (int i = 0; i < trainings; ++i) {
        hyp::Genes genes = start;
        if (i > 0) std::ranges::generate(genes, [&] { return near(rng); });
        const double fitness = 0.25 * std::exp(-15 * std::abs(genes[0] - 0.5));
        history.add(genes, {Observation::Ending::completed, fitness, i});
      }
      sum += standing(space.genes, history, start)->start->expectation.mean;
    }
    return sum / runs;
  };
  EXPECT_GT(expected_of_start(10), 0.18);
  EXPECT_GT(expected_of_start(15), 0.2);
}

// Of many failures, or trainings that ended at 0, the model knows one and the same value. How much
// is luck they do not say.
TEST(Recommendation, KnowsHowMuchIsLuckWhereMostSetsFailOrLearnNothing) {
  const hyp::Space space = space_of(std::vector<hyp::Gene>(3, real(0, 1, 0.5)));
  const hyp::Genes start = hyp::genes_of(space, {});
  constexpr double luck = 0.02;
  const auto mean = [](const hyp::Genes& genes) { return 0.3 - 0.3 * std::pow(genes[1] - 0.5, 2); };
  for (const auto bad : {Observation::Ending::failed, Observation::Ending::completed}) {
    double said = 0;
    int held = 0;
    constexpr int runs = 20;
    for (std::uint64_t seed = 0; seed < runs; ++seed) {
      History history(space.genes);
      Rng rng = breeding_rng(seed, 0);
      boost::random::uniform_real_distribution<double> anywhere(0, 1);
      boost::random::normal_distribution<double> normal(0, luck);
      for (int i = 0; i < 40; ++i) {
        hyp::Genes genes = start;
        if (i > 0) std::ranges::generate(genes, [&] { return anywhere(rng); });
        const double fitness = mean(genes) + normal(rng);
        const bool learns = std::abs(genes[0] - 0.5) < 0.15;
        history.add(genes,
                    {learns ? Observation::Ending::completed : bad, learns ? fitness : 0, i});
      }
      const auto now = *standing(space.genes, history, start);
      said += now.training_sd / runs;
      held +=
          now.start->expectation.low <= mean(start) && mean(start) <= now.start->expectation.high;
    }
    EXPECT_NEAR(said, luck, 0.2 * luck);
    EXPECT_GE(held, 17);
  }
}

TEST(Recommendation, IsTheStartWhereAllThatCompletedIsAlike) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    Evolution evolution(cube(), {.search = "screened", .seed = seed, .trials = 30});
    while (const auto trial = evolution.ask()) {
      if (trial->number == 2 || trial->number == 5) {
        evolution.tell(failed(trial->number));
      } else {
        evolution.tell(completed(trial->number, 0.7));
      }
    }
    const Standing standing = *evolution.standing();
    EXPECT_EQ(standing.best.trial, 0) << seed;
    EXPECT_EQ(standing.best.expectation.mean, 0.7) << seed;
    EXPECT_EQ(standing.better, 0) << seed;
  }
}

TEST(Recommendation, IsTheBestSetWhereNothingIsLuck) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Standing standing = standing_of(seed, 0);
    EXPECT_NE(standing.best.trial, 0) << seed;
    EXPECT_GT(standing.better, 0.9) << seed;
  }
}

TEST(Recommendation, IsWhatGaveMostOnceTheStartGaveTheSameWithTwoOtherSeeds) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    Evolution evolution(cube(), {.search = "screened", .seed = seed, .trials = 15});
    while (const auto trial = evolution.ask())
      evolution.tell(completed(trial->number, peak(trial->hyp)));
    const Standing standing = *evolution.standing();
    EXPECT_EQ(standing.best.trial, evolution.best()->trial) << seed;
    EXPECT_EQ(standing.best.expectation.low, evolution.best()->fitness) << seed;
    EXPECT_EQ(standing.best.expectation.high, evolution.best()->fitness) << seed;
    EXPECT_EQ(standing.start->expectation.mean, evolution.observation(0)->fitness) << seed;
    EXPECT_EQ(standing.better, 1) << seed;
    EXPECT_EQ(standing.training_sd, 0) << seed;
    EXPECT_EQ(standing.undecided, std::nullopt) << seed;
  }
}

// The model of a long run is made of its best sets, and the start may be far from them.
TEST(Recommendation, ComparesWithWhatTheStartHadHoweverLongAgo) {
  Evolution evolution(cube(), {.search = "screened", .seed = 1, .trials = 250});
  while (const auto trial = evolution.ask())
    evolution.tell(completed(trial->number, peak(trial->hyp)));
  const Standing standing = *evolution.standing();
  EXPECT_GT(standing.better, 0.99);
  const double start = evolution.observation(0)->fitness;
  EXPECT_NEAR(standing.start->expectation.mean, start, 0.02);
}

// Where all sets are alike, the best hundred of 400 trainings are the hundred luckiest.
// Thirteen genes of which nearly all sets are bad; what `good` gives is none of their luck.
Standing standing_of_a_good_set_among_bad_ones(const hyp::Genes& good,
                                               const std::vector<int>& trials, int trainings) {
  const std::vector<hyp::Gene> space(13, real(0, 1, 0.5));
  const hyp::Genes start(13, 0.5);
  History history(space);
  Rng rng(1);
  boost::random::normal_distribution<double> luck(1, 0.01);
  for (int i = 0; i < trainings; ++i) {
    const bool is_good = std::ranges::count(trials, i) > 0;
    const bool is_start = i == 0 || i == 13 || i == 26;
    const auto genes = is_good ? good : is_start ? start : random_genes(space, rng);
    history.add(genes, {Observation::Ending::completed, (is_good ? 0.65 : 0.02) * luck(rng), i});
  }
  return *standing(space, history, start);
}

// Three trainings that agree are not lucky three times.
TEST(Recommendation, ExpectsOfAStartWhatItGaveThoughAllOthersAreFarWorse) {
  const auto expected = standing_of_a_good_set_among_bad_ones(hyp::Genes(13, 0.5), {0, 13, 26}, 30)
                            .start->expectation;
  EXPECT_NEAR(expected.mean, 0.65, 0.1);
  EXPECT_GT(expected.low, 0.3);
}

// Whether or not the parameters have been fitted since: a repeat is of the same odd set.
TEST(Recommendation, KnowsMoreOfASetTheMoreOftenItWasTrained) {
  const std::vector<hyp::Gene> space(4, real(0, 1, 0.5));
  const hyp::Genes start(4, 0.5);
  for (const int trainings : {60, 230}) {
    History history(space);
    Rng rng(1);
    boost::random::normal_distribution<double> luck(0, 0.02);
    for (int i = 0; i < trainings; ++i) {
      const auto genes = i % 20 == 0 ? start : random_genes(space, rng);
      const double distance = Eigen::Map<const Eigen::Vector4d>(genes.data()).array().sum() - 2;
      history.add(genes,
                  {Observation::Ending::completed, 0.4 - 0.05 * std::abs(distance) + luck(rng), i});
    }
    const auto width = [&] {
      const auto expectation = standing(space, history, start)->start->expectation;
      return expectation.high - expectation.low;
    };
    const double first = width();
    double before = first;
    for (int repeat = 1; repeat <= 3; ++repeat) {
      history.add(start, {Observation::Ending::completed, 0.4, 0, repeat});
      const double now = width();
      EXPECT_LT(now, 1.02 * before) << trainings << " " << repeat;
      before = now;
    }
    EXPECT_LT(before, 0.95 * first) << trainings;
  }
}

// It may have been lucky, but no other set of its kind was ever seen.
TEST(Recommendation, IsTheOneGoodSetAmongBadOnes) {
  const auto standing = standing_of_a_good_set_among_bad_ones(hyp::Genes(13, 0.7), {1}, 20);
  EXPECT_EQ(standing.best.trial, 1);
}

TEST(Recommendation, IsTheStartWhereASetGaveTheVerySameWithoutLuck) {
  const hyp::Space space = space_of({real(0, 1, 0.5)});
  History history(space.genes);
  const auto add = [&](double gene, double fitness, int trial) {
    history.add({gene}, {Observation::Ending::completed, fitness, trial});
  };
  // The start's other trainings ended before its first one.
  add(0.5, 0.9, 13);
  add(0.5, 0.9, 14);
  for (int i = 1; i < 20; ++i) add(0.02 * i, i == 7 ? 0.9 : 0.03 * i, i);
  add(0.5, 0.9, 0);
  const Standing standing = *ga::standing(space.genes, history, {0.5});
  EXPECT_EQ(standing.best.trial, 0);
  EXPECT_EQ(standing.better, 0);
  EXPECT_EQ(standing.doubt, 0);
}

TEST(Recommendation, PromisesNoLuckHoweverManyWereTrained) {
  const hyp::Space space = cube();
  History history(space.genes);
  Rng rng(1);
  boost::random::normal_distribution<double> normal(0.3, 0.03);
  const hyp::Genes start = hyp::genes_of(space, {});
  for (int i = 0; i < 400; ++i) {
    const hyp::Genes genes = i % 100 == 0 ? start : random_genes(space.genes, rng);
    history.add(genes, {Observation::Ending::completed, normal(rng), i});
  }
  const auto promised = standing(space.genes, history, start)->best.expectation;
  EXPECT_NEAR(promised.mean, 0.3, 0.03);  // the luckiest of 400 has 0.39
}

// How much is luck is weighed by all outcomes, and the best are compared by those near them, which
// differ by little else.
TEST(Recommendation, KnowsTheLuckOfTrainingsThatAreFarBetterThanMost) {
  const std::vector<hyp::Gene> space = {real(0, 1)};
  for (const std::uint64_t seed : {0, 1}) {
    History history(space);
    Rng rng(seed);
    boost::random::normal_distribution<double> luck(0, 0.01), near(0.8, 0.002);
    for (int i = 0; i < 300; ++i) {
      const double x = i % 3 == 0 ? i / 300.0 : near(rng);
      const double fitness = 0.6 * std::exp(-20 * (x - 0.8) * (x - 0.8)) + luck(rng);
      history.add({x}, {Observation::Ending::completed, fitness, i});
    }
    const double noise = standing(space, history, {0})->training_sd;
    EXPECT_GT(noise, 0.008) << seed;
    EXPECT_LT(noise, 0.03) << seed;
  }
}

TEST(Recommendation, IsNoSetWhoseTrainingsFailAsOftenAsNot) {
  const hyp::Space space = cube();
  History history(space.genes);
  Rng rng(1);
  boost::random::normal_distribution<double> luck(0, 0.02);
  std::vector<hyp::Genes> sets = {hyp::genes_of(space, {})};
  while (sets.size() < 12) sets.push_back(random_genes(space.genes, rng));
  for (int i = 0; i < 12; ++i)
    history.add(
        sets[static_cast<std::size_t>(i)],
        {.fitness = peak(hyp::express(space, sets[static_cast<std::size_t>(i)])) + luck(rng),
         .trial = i});
  const int best = standing(space.genes, history, sets[0])->best.trial;
  ASSERT_NE(best, 0);
  const auto& of_best = sets[static_cast<std::size_t>(best)];
  history.add(of_best, {.fitness = 0.6, .trial = best, .repeat = 1});
  history.add(of_best, {.ending = Observation::Ending::failed, .trial = best, .repeat = 2});
  EXPECT_EQ(standing(space.genes, history, sets[0])->best.trial, best) << "one of three failed";
  history.add(of_best, {.ending = Observation::Ending::failed, .trial = best, .repeat = 3});
  EXPECT_NE(standing(space.genes, history, sets[0])->best.trial, best) << "two of four did";
}

TEST(Recommendation, IsNoSetWhoseTrainingsEndAt0AsOftenAsNot) {
  const hyp::Space space = cube();
  History history(space.genes);
  std::vector<hyp::Genes> sets = {hyp::genes_of(space, {})};
  for (Rng rng(1); sets.size() < 12;) sets.push_back(random_genes(space.genes, rng));
  for (int i = 0; i < 12; ++i)
    history.add(sets[static_cast<std::size_t>(i)],
                {.fitness = i == 5 ? 0.6 : 0.2 + 0.01 * (i % 3), .trial = i});
  history.add(sets[5], {.fitness = 0.61, .trial = 5, .repeat = 1});
  history.add(sets[5], {.fitness = 0, .trial = 5, .repeat = 2});
  EXPECT_EQ(standing(space.genes, history, sets[0])->best.trial, 5) << "one of three did";
  history.add(sets[5], {.fitness = 0, .trial = 5, .repeat = 3});
  EXPECT_NE(standing(space.genes, history, sets[0])->best.trial, 5) << "two of four did";
}

// -box_loss, say. Six of ten sets are far worse than the four that are trained well.
TEST(Recommendation, ExpectsOfALossWhatSetsThatAreAlikeGave) {
  const hyp::Space space = space_of(std::vector<hyp::Gene>(4, real(0, 1, 0.5)));
  for (const double far : {5, 20, 100, 1000}) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      History history(space.genes);
      Rng rng = breeding_rng(seed, 0);
      boost::random::normal_distribution<double> luck(1, 0.03);
      const hyp::Genes start = hyp::genes_of(space, {});
      for (int i = 0; i < 10; ++i) {
        auto genes = i == 0 ? start : random_genes(space.genes, rng);
        const bool good = i > 5;
        if (good) genes.assign({0.1, 0.1, 0.1, 0.1 * i});
        history.add(genes, {.fitness = -(good ? 1 : far + i) * luck(rng), .trial = i});
      }
      const auto said = standing(space.genes, history, start)->best.expectation;
      EXPECT_LE(said.low, -1) << far << " " << seed;
      EXPECT_GE(said.high, -1) << far << " " << seed;
    }
  }
}

TEST(Recommendation, NamesASetByItsFirstTrialThatCompletedWhateverWasToldFirst) {
  Evolution evolution(cube(), {.search = "screened", .trials = 20});
  std::optional<hyp::Trial> first = evolution.ask();
  while (const auto trial = evolution.ask()) evolution.tell(completed(trial->number, 0.1));
  ASSERT_EQ(evolution.genes(13), evolution.genes(0));
  evolution.tell(completed(first->number, 0.9));
  EXPECT_EQ(evolution.standing()->start->trial, 0);
}

TEST(Recommendation, IsNoneWhereTheModelKnowsSetsOnlyThatWereLookedAtBeforeTheirEnd) {
  const hyp::Space space = cube();
  History history(space.genes);
  const auto add = [&](double g0, Observation observation) {
    observation.trial = static_cast<int>(history.size());
    history.add({g0, 0, 0.01}, observation);
  };
  using Ending = Observation::Ending;
  for (int i = 1; i <= 3; ++i) add(1e-3 * i, {.fitness = 1e-3 * i});
  for (int i = 0; i < model_points; ++i)
    add(1 - 1e-4 * i, {.ending = Ending::at_rung, .fitness = 0.5, .left = 0.5});
  EXPECT_FALSE(standing(space.genes, history, hyp::genes_of(space, {})));
}

TEST(Recommendation, OfTheStartNamesAnotherSetThatMayBeBetter) {
  std::optional<Standing> doubtful;
  for (std::uint64_t seed = 0; seed < 20 && !doubtful; ++seed) {
    const Standing standing = standing_of(seed, 0.2);
    if (standing.best.trial == 0 && standing.doubt > 0.5) doubtful = standing;
  }
  ASSERT_TRUE(doubtful);
  EXPECT_LT(doubtful->doubt, least_probability_better);
  EXPECT_TRUE(doubtful->undecided);
}

TEST(Recommendation, IsLessInDoubtOnceWhatIsInTrainingHasTold) {
  const hyp::Space space = cube();
  History history(space.genes);
  Rng rng(1);
  boost::random::normal_distribution<double> luck(0, 0.2);
  const hyp::Genes start = hyp::genes_of(space, {});
  for (int i = 0; i < 12; ++i) {
    const hyp::Genes genes = i == 0 ? start : random_genes(space.genes, rng);
    history.add(genes, {.fitness = peak(hyp::express(space, genes)) + luck(rng), .trial = i});
  }
  const Standing now = *standing(space.genes, history, start);
  ASSERT_TRUE(now.undecided);
  const std::vector in_training = {*now.undecided};
  const Standing then = *standing(space.genes, history, start, in_training);
  EXPECT_EQ(then.best.trial, now.best.trial);
  EXPECT_LT(then.doubt, now.doubt);
  EXPECT_NE(then.undecided, now.undecided);
}

// The best was trained so often that any rival is known less.
TEST(Recommendation, TrainsARivalAgainThatIsNotInTrainingThoughItIsKnownLess) {
  const hyp::Space space = cube();
  History history(space.genes);
  Rng rng(1);
  boost::random::normal_distribution<double> luck(0.3, 0.03);
  const hyp::Genes start = hyp::genes_of(space, {});
  for (int i = 0; i < 40; ++i) {
    const hyp::Genes genes = i < 32 ? start : random_genes(space.genes, rng);
    history.add(genes, {.fitness = luck(rng) - (i < 32 ? 0 : 0.05), .trial = i});
  }
  const Standing now = *standing(space.genes, history, start);
  ASSERT_TRUE(now.undecided);
  ASSERT_NE(now.undecided, now.best.trial);
  const std::vector in_training = {*now.undecided};
  const Standing then = *standing(space.genes, history, start, in_training);
  EXPECT_EQ(then.best.trial, now.best.trial);
  EXPECT_NE(then.undecided, now.undecided);
}

TEST(Recommendation, IsSureAtNinetyPercent) {
  const std::vector<hyp::Gene> space(2, real(0, 1, 0.5));
  const hyp::Genes start(2, 0.5);
  History history(space);
  Rng rng(1);
  boost::random::normal_distribution<double> luck(0, 0.02);
  constexpr int trainings = 100;  // so many that nothing but luck is left to doubt
  for (int i = 0; i < 3; ++i)
    history.add({0.2 * i, 0.3}, {Observation::Ending::completed, 0.4 + luck(rng), i + 1});
  for (int i = 0; i < trainings; ++i)
    history.add(start, {Observation::Ending::completed, 0.5 + luck(rng), 0, i});
  const auto now = *standing(space, history, start);
  const double of_mean = now.training_sd / std::sqrt(trainings);
  const auto& expected = now.start->expectation;
  EXPECT_NEAR((expected.high - expected.low) / 2, 1.645 * of_mean, 0.1 * of_mean);
}

TEST(Recommendation, IsTheModelsOnceThreeTrainingsHaveCompleted) {
  Evolution evolution(cube(), screened(1, 10));
  for (int trial = 0; trial < 3; ++trial) {
    EXPECT_FALSE(evolution.standing()) << trial;
    evolution.tell(completed(evolution.ask()->number, 0.1 * trial));
  }
  EXPECT_TRUE(evolution.standing());
}

}  // namespace
}  // namespace evolve::ga

#include "ga/classic/operators.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <vector>

#include "tests/ga/fixtures.hpp"

namespace evolve::ga {
namespace {

using testing::ElementsAre;

// The draws behind the literals were made once by an independent implementation of MT19937-64 and
// of Boost's distributions.

TEST(Tournament, TakesTheFittestOfThoseDrawn) {
  const std::vector<double> fitness = {0.1, 0.2, 0.3, 0.4, 0.5};
  Rng rng(1);  // draws 0 1 3, 0 2 4, 2 1 3, 3 1 0, 3 1 0, 1 2 4
  std::vector<std::size_t> winners(6);
  for (auto& winner : winners) winner = tournament(fitness, 3, rng);
  EXPECT_THAT(winners, ElementsAre(3, 4, 3, 3, 3, 4));
}

TEST(Tournament, OfEqualsIsWonByTheOneDrawnFirst) {
  const std::vector<double> fitness(5, 0.25);
  Rng rng(1);
  std::vector<std::size_t> winners(6);
  for (auto& winner : winners) winner = tournament(fitness, 3, rng);
  EXPECT_THAT(winners, ElementsAre(0, 0, 2, 3, 3, 1));
}

TEST(Tournament, OfAllIsWonByTheFittest) {
  const std::vector<double> fitness = {0.1, 0.9, -3, 0.8};
  Rng rng(2);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(tournament(fitness, 4, rng), 1U);
}

TEST(Tournament, WithMoreContestantsThanCandidatesTakesAll) {
  const std::vector<double> fitness = {0.1, 0.9};
  Rng rng(2);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(tournament(fitness, 10, rng), 1U);
  EXPECT_EQ(tournament(std::array{0.5}, 2, rng), 0U);
}

TEST(Tournament, DrawsWithoutReplacement) {
  const std::vector<double> fitness = {3, 2,
                                       1};  // of two different ones, the last is never the best
  Rng rng(3);
  std::map<std::size_t, int> wins;
  for (int i = 0; i < 3000; ++i) ++wins[tournament(fitness, 2, rng)];
  EXPECT_EQ(wins[2], 0);
  EXPECT_NEAR(wins[0], 2000, 100);
}

TEST(SinglePoint, TakesTheFirstGenesFromOneParentAndTheRestFromTheOther) {
  const hyp::Genes a = {1, 2, 3, 4, 5, 6}, b = {-1, -2, -3, -4, -5, -6};
  Rng rng(2);  // cuts at 5, 5, 4, 5, 2, 1
  EXPECT_THAT(single_point(a, b, rng), ElementsAre(1, 2, 3, 4, 5, -6));
  EXPECT_THAT(single_point(a, b, rng), ElementsAre(1, 2, 3, 4, 5, -6));
  EXPECT_THAT(single_point(a, b, rng), ElementsAre(1, 2, 3, 4, -5, -6));
  EXPECT_THAT(single_point(a, b, rng), ElementsAre(1, 2, 3, 4, 5, -6));
  EXPECT_THAT(single_point(a, b, rng), ElementsAre(1, 2, -3, -4, -5, -6));
  EXPECT_THAT(single_point(a, b, rng), ElementsAre(1, -2, -3, -4, -5, -6));
}

TEST(SinglePoint, AlwaysTakesSomethingFromBoth) {
  Rng rng(2);
  for (int i = 0; i < 100; ++i) EXPECT_THAT(single_point({1, 2}, {3, 4}, rng), ElementsAre(1, 4));
}

TEST(SinglePoint, OfOneGeneCopiesTheFirstParent) {
  Rng rng(2);
  EXPECT_THAT(single_point({1}, {2}, rng), ElementsAre(1));
}

TEST(Mutated, MovesARealGeneByUpToATenthOfItsRange) {
  Rng rng(3);
  EXPECT_DOUBLE_EQ(mutated(real(0, 10), 5, rng), 5.117531979246358);
  EXPECT_DOUBLE_EQ(mutated(real(0, 10), 5, rng), 4.391527509522324);
  EXPECT_DOUBLE_EQ(mutated(real(0, 10), 5, rng), 5.180482543122632);
}

TEST(Mutated, MovesAGeneOnALogAxisByAFactor) {
  Rng rng(3);
  const hyp::Gene gene = logarithmic(1e-5, 0.1, 0.01);
  EXPECT_DOUBLE_EQ(mutated(gene, 1e-3, rng), 0.0011143273544777241);
  EXPECT_DOUBLE_EQ(mutated(gene, 1e-3, rng), 0.000570966994240594);
  EXPECT_DOUBLE_EQ(mutated(gene, 1e-3, rng), 0.0011808453323393314);
}

TEST(Mutated, MovesAnIntegerGeneByAtLeastOneStep) {
  Rng rng(4);  // to 5.46, 4.93, 5.15, 4.30 before rounding
  EXPECT_EQ(mutated(integer(2, 10, 3), 5, rng), 6);
  EXPECT_EQ(mutated(integer(2, 10, 3), 5, rng), 4);
  EXPECT_EQ(mutated(integer(2, 10, 3), 5, rng), 6);
  EXPECT_EQ(mutated(integer(2, 10, 3), 5, rng), 4);
}

TEST(Mutated, RoundsAWideIntegerGene) {
  Rng rng(4);  // to 55.7, 49.1, 51.9, 41.2 before rounding
  EXPECT_EQ(mutated(integer(0, 100, 3), 50, rng), 56);
  EXPECT_EQ(mutated(integer(0, 100, 3), 50, rng), 49);
  EXPECT_EQ(mutated(integer(0, 100, 3), 50, rng), 52);
  EXPECT_EQ(mutated(integer(0, 100, 3), 50, rng), 41);
}

TEST(Mutated, TakesAnotherChoiceOfACategoricalGene) {
  Rng rng(5);
  const hyp::Gene gene = categorical({"SGD", "Adam", "AdamW", "RMSProp"});
  std::vector<double> drawn(8);
  for (double& choice : drawn) choice = mutated(gene, 1, rng);
  EXPECT_THAT(drawn, ElementsAre(3, 0, 0, 3, 0, 0, 0, 3));
}

TEST(Mutated, TakesEveryOtherChoiceEquallyOften) {
  Rng rng(6);
  std::map<double, int> count;
  for (int i = 0; i < 3000; ++i) ++count[mutated(categorical({"a", "b", "c", "d"}), 2, rng)];
  EXPECT_EQ(count[2], 0);
  for (const double other : {0, 1, 3}) EXPECT_NEAR(count[other], 1000, 100);
}

TEST(Mutated, StopsAtTheBounds) {
  Rng rng(7);
  int low = 0, high = 0;
  for (int i = 0; i < 1000; ++i) {
    low += mutated(real(0, 0.001), 0, rng) == 0;
    high += mutated(logarithmic(1e-5, 0.1, 0.1), 0.1, rng) == 0.1;
  }
  EXPECT_NEAR(low, 500, 60);  // half of the steps lead outside
  EXPECT_NEAR(high, 500, 60);
}

TEST(Mutated, LeavesAGeneOfOneValue) {
  Rng rng(8);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(mutated(real(2, 2), 2, rng), 2);
    EXPECT_EQ(mutated(logarithmic(0.1, 0.1, 0.1), 0.1, rng), 0.1);
    EXPECT_EQ(mutated(integer(3, 3, 3), 3, rng), 3);
    EXPECT_EQ(mutated(categorical({"only"}), 0, rng), 0);
  }
}

TEST(Mutated, ReachesEveryValueOfASwitch) {
  Rng rng(9);
  int there = 0, back = 0;
  for (int i = 0; i < 1000; ++i) {
    there += mutated(integer(0, 1, 0), 0, rng) == 1;
    back += mutated(integer(0, 1, 0), 1, rng) == 0;
  }
  EXPECT_NEAR(there, 500, 60);
  EXPECT_NEAR(back, 500, 60);
}

TEST(Mutate, AtRate0ChangesNothing) {
  Rng rng(10);
  const std::vector space = {real(0, 1), integer(2, 10, 3), categorical({"a", "b"})};
  for (int i = 0; i < 100; ++i) {
    EXPECT_THAT(mutate(space, {0.5, 3, 1}, 0, rng), ElementsAre(0.5, 3, 1));
  }
}

TEST(Mutate, AtRate1ChangesEveryGene) {
  Rng rng(11);
  const std::vector space = {real(0, 1), integer(2, 10, 3), categorical({"a", "b"})};
  for (int i = 0; i < 100; ++i) {
    const hyp::Genes child = mutate(space, {0.5, 3, 1}, 1, rng);
    EXPECT_NE(child[0], 0.5);
    EXPECT_NE(child[1], 3);
    EXPECT_EQ(child[2], 0);
  }
}

TEST(Mutate, ChangesEachGeneWithProbabilityRate) {
  Rng rng(12);
  const std::vector space(10, real(0, 1));
  int changed = 0;
  for (int i = 0; i < 1000; ++i) {
    for (const double value : mutate(space, hyp::Genes(10, 0.5), 0.3, rng)) changed += value != 0.5;
  }
  EXPECT_NEAR(changed, 3000, 150);
}

TEST(Mutate, MovesAGeneThatStandsAt0) {
  Rng rng(13);
  const std::vector space = {real(0, 45)};  // YOLOv5's degrees; v7.0 multiplies, and 0 stays 0
  hyp::Genes genes = {0};
  for (int i = 0; i < 20; ++i) genes = mutate(space, genes, 1, rng);
  EXPECT_GT(genes[0], 0);
}

TEST(RandomGenes, AreUniformInTheUnitCube) {
  const std::vector space = {real(-1, 1), logarithmic(1e-4, 1, 1), integer(0, 9, 0),
                             categorical({"a", "b", "c"})};
  Rng rng(8);  // draws 0.484, 0.918, 0.862, 0.860
  const hyp::Genes genes = random_genes(space, rng);
  EXPECT_DOUBLE_EQ(genes[0], -1 + 2 * 0.4841411867701209);
  EXPECT_NEAR(genes[1], 0.468193541, 1e-9);  // 1e-4 ** (1 - 0.9176063546264535)
  EXPECT_EQ(genes[2], 8);
  EXPECT_EQ(genes[3], 2);
}

}  // namespace
}  // namespace evolve::ga

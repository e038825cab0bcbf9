#include "ga/classic/schedule.hpp"

#include <gtest/gtest.h>

namespace evolve::ga {
namespace {

TEST(TournamentSize, FallsFrom10To2) {
  EXPECT_EQ(tournament_size(0, 50), 10);
  EXPECT_EQ(tournament_size(1 / 300.0, 50), 9);
  EXPECT_EQ(tournament_size(30 / 300.0, 50), 9);
  EXPECT_EQ(tournament_size(31 / 300.0, 50), 8);
  EXPECT_EQ(tournament_size(0.5, 50), 5);
  EXPECT_EQ(tournament_size(0.7, 50), 3);
  EXPECT_EQ(tournament_size(0.8, 50), 2);
  EXPECT_EQ(tournament_size(299 / 300.0, 50), 2);
}

TEST(TournamentSize, StartsAtThePopulationWhereThatIsSmaller) {
  EXPECT_EQ(tournament_size(0, 4), 4);
  EXPECT_EQ(tournament_size(0.1, 4), 3);
  EXPECT_EQ(tournament_size(0, 1), 2);
}

TEST(CrossoverRate, FallsFrom1ToOneHalf) {
  EXPECT_EQ(crossover_rate(0), 1);
  EXPECT_EQ(crossover_rate(0.25), 0.75);
  EXPECT_EQ(crossover_rate(0.5), 0.5);
  EXPECT_EQ(crossover_rate(0.99), 0.5);
}

TEST(MutationRate, FallsFromOneHalfTo1Percent) {
  EXPECT_EQ(mutation_rate(0), 0.5);
  EXPECT_EQ(mutation_rate(0.25), 0.25);
  EXPECT_EQ(mutation_rate(0.5), 0.01);
  EXPECT_EQ(mutation_rate(0.99), 0.01);
}

TEST(EliteCount, GrowsFrom2To5) {
  EXPECT_EQ(elite_count(0), 2);
  EXPECT_EQ(elite_count(99 / 300.0), 2);
  EXPECT_EQ(elite_count(100 / 300.0), 3);
  EXPECT_EQ(elite_count(200 / 300.0), 4);
  EXPECT_EQ(elite_count(299 / 300.0), 4);
  EXPECT_EQ(elite_count(1), max_elites);
}

}  // namespace
}  // namespace evolve::ga

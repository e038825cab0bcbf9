#include "ga/random/rng.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <set>

namespace evolve::ga {
namespace {

TEST(Rng, IsTheMersenneTwisterOfTheStandard) {
  Rng rng;
  rng.discard(9999);
  EXPECT_EQ(rng(), 9981545732273789042U);  // [rand.predef] of the C++ standard
}

TEST(Rng, OfATrialStaysTheSameForEver) {
  EXPECT_EQ(breeding_rng(7, 3)(), 11259908768214284244U);
}

TEST(Rng, DiffersBetweenTrialsAndRuns) {
  std::set<std::uint64_t> first;
  for (std::uint64_t run = 0; run < 100; ++run) {
    for (int trial = 0; trial < 100; ++trial) first.insert(breeding_rng(run, trial)());
  }
  EXPECT_EQ(first.size(), 10000U);
}

TEST(TrainingSeed, StaysTheSameForEver) {
  EXPECT_EQ(training_seed(0, 0), 266925343U);
  EXPECT_EQ(training_seed(0, 1), 1679338179U);
  EXPECT_EQ(training_seed(1, 0), 1934047200U);
  EXPECT_EQ(
      training_seed(std::numeric_limits<std::uint64_t>::max(), std::numeric_limits<int>::max()),
      1197520191U);
}

TEST(SeedNumber, RotatesOverTheTrialsAndIsNewInEveryRepeat) {
  EXPECT_EQ(seed_number(0, 0), 0);
  EXPECT_EQ(seed_number(1, 0), 1);
  EXPECT_EQ(seed_number(5, 0), 5);
  EXPECT_EQ(seed_number(6, 0), 0);
  for (const int trial : {0, 1, 8}) {
    EXPECT_EQ(seed_number(trial, 1), 6);
    EXPECT_EQ(seed_number(trial, 2), 7);
  }
}

TEST(TrainingSeed, HasAtMost31Bits) {
  std::uint64_t all = 0;
  for (int trial = 0; trial < 1000; ++trial) all |= training_seed(5, trial);
  EXPECT_EQ(all, (std::uint64_t{1} << 31) - 1);
}

}  // namespace
}  // namespace evolve::ga

#include "trainer/data/random_source.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace evolve::data {
namespace {

TEST(RandomSource, DependOnTheSeedOnly) {
  const auto a = seeded_random_source(7), b = seeded_random_source(7), c = seeded_random_source(8);
  const double first = a->random();
  EXPECT_EQ(first, b->random());
  EXPECT_NE(first, c->random());
}

TEST(RandomSource, StayInTheirRanges) {
  const auto rng = seeded_random_source(1);
  const std::vector<int> pool = {4, 5, 9};
  std::set<int> chosen;
  for (int i = 0; i < 1000; ++i) {
    const double random = rng->random(), uniform = rng->uniform(-2, 3);
    EXPECT_TRUE(random >= 0 && random < 1);
    EXPECT_TRUE(uniform >= -2 && uniform <= 3);
    for (const double value : rng->uniform3(-1, 1)) EXPECT_LE(std::abs(value), 1);
    for (const int value : rng->choices3(pool)) chosen.insert(value);
  }
  EXPECT_EQ(chosen, (std::set<int>{4, 5, 9}));
}

TEST(RandomSource, ShuffleReachesEveryOrder) {
  const auto rng = seeded_random_source(1);
  std::set<std::array<int, 4>> orders;
  for (int i = 0; i < 1000; ++i) {
    std::array<int, 4> values = {1, 2, 3, 4};
    rng->shuffle(values);
    orders.insert(values);
  }
  EXPECT_EQ(orders.size(), 24U);
}

TEST(RandomSource, SampleWithoutReplacement) {
  const auto rng = seeded_random_source(1);
  std::vector<int> values = rng->sample(6, 6);
  EXPECT_FALSE(std::is_sorted(values.begin(), values.end()));
  std::sort(values.begin(), values.end());
  EXPECT_EQ(values, (std::vector<int>{0, 1, 2, 3, 4, 5}));
  EXPECT_TRUE(rng->sample(6, 0).empty());
}

TEST(RandomSource, MixNearlyEvenlyUnderBeta) {
  const auto rng = seeded_random_source(1);
  double sum = 0, squares = 0;
  for (int i = 0; i < 4000; ++i) {
    const double value = rng->beta(32, 32);
    sum += value;
    squares += (value - 0.5) * (value - 0.5);
  }
  EXPECT_NEAR(sum / 4000, 0.5, 0.005);
  EXPECT_NEAR(squares / 4000, 0.25 / 65, 0.0004);  // the variance of Beta(32, 32)
}

TEST(SampleSeed, StaysTheSameForEver) {
  EXPECT_EQ(sample_seed(7, 3, 5), 17746397239880631399U);
}

TEST(SampleSeed, DiffersInEveryArgument) {
  std::set<std::uint64_t> seeds;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    for (int epoch = 0; epoch < 10; ++epoch) {
      for (int place = -1; place < 9; ++place) seeds.insert(sample_seed(seed, epoch, place));
    }
  }
  EXPECT_EQ(seeds.size(), 1000U);
}

}  // namespace
}  // namespace evolve::data

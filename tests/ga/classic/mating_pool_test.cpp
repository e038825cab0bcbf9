#include "ga/classic/mating_pool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/ga/fixtures.hpp"

namespace evolve::ga {
namespace {

using testing::ElementsAre;

TEST(MatingPool, IsEmptyAtFirst) {
  EXPECT_TRUE(MatingPool(3).members(5).empty());
}

TEST(MatingPool, ShowsTheElitesBestFirstThenTheLatest) {
  MatingPool pool(3);
  const double fitness[] = {0.9, 0.1, 0.8, 0.7, 0.2, 0.3, 0.4};
  for (int trial = 0; trial < 7; ++trial) pool.add({trial, {1.0 * trial}, fitness[trial]});
  EXPECT_THAT(numbers_of(pool.members(2)), ElementsAre(0, 2, 4, 5, 6));
  EXPECT_THAT(numbers_of(pool.members(3)), ElementsAre(0, 2, 3, 4, 5, 6));
  EXPECT_EQ(pool.members(2)[1], (Individual{2, {2}, 0.8}));
}

TEST(MatingPool, ShowsAnEliteThatIsAmongTheLatestOnce) {
  MatingPool pool(3);
  const double fitness[] = {0.1, 0.2, 0.3, 0.4};
  for (int trial = 0; trial < 4; ++trial) pool.add({trial, {}, fitness[trial]});
  EXPECT_THAT(numbers_of(pool.members(2)), ElementsAre(3, 2, 1));
}

TEST(MatingPool, PrefersTheEarlierOfEquals) {
  MatingPool pool(1);
  for (const int trial : {4, 2, 9}) pool.add({trial, {}, 0.5});
  EXPECT_THAT(numbers_of(pool.members(2)), ElementsAre(4, 2, 9));
}

TEST(MatingPool, ShowsWhatThereIs) {
  MatingPool pool(50);
  pool.add({0, {}, 0.5});
  EXPECT_THAT(numbers_of(pool.members(5)), ElementsAre(0));
}

TEST(MatingPool, KeepsAsManyElitesAsAreEverAskedFor) {
  MatingPool pool(1);
  for (int trial = 0; trial < 20; ++trial) pool.add({trial, {}, 1.0 / (trial + 1)});
  EXPECT_THAT(numbers_of(pool.members(5)), ElementsAre(0, 1, 2, 3, 4, 19));
}

}  // namespace
}  // namespace evolve::ga

#include "trainer/data/argsort.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace evolve::data {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Argsort, IsStableUpTo16Keys) {
  EXPECT_THAT(argsort(std::vector<double>{2, 1, 2, 0, 1}), ElementsAre(3, 1, 4, 0, 2));
  EXPECT_THAT(argsort({}), IsEmpty());
}

TEST(Argsort, LeavesEqualKeysInTheOrderOfNumPy) {
  // numpy.argsort(numpy.zeros(20)) and of numpy.arange(24) % 3.0, NumPy 1.24.
  EXPECT_THAT(argsort(std::vector<double>(20, 0)),
              ElementsAre(0, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 18, 19));
  std::vector<double> keys;
  for (int i = 0; i < 24; ++i) keys.push_back(i % 3);
  EXPECT_THAT(argsort(keys), ElementsAre(0, 18, 21, 3, 12, 6, 15, 9, 13, 22, 19, 7, 4, 1, 10, 16,
                                         20, 11, 14, 8, 5, 2, 17, 23));
}

TEST(Argsort, SortsManyKeys) {
  std::vector<double> keys;
  for (int i = 0; i < 5000; ++i) keys.push_back((i * 7919) % 5003);
  const auto order = argsort(keys);
  for (std::size_t i = 1; i < order.size(); ++i) {
    ASSERT_LT(keys[static_cast<std::size_t>(order[i - 1])],
              keys[static_cast<std::size_t>(order[i])]);
  }
}

}  // namespace
}  // namespace evolve::data

#include "core/core_mask.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace evolve::core {
namespace {

TEST(CoreMask, HasItsCoresInAscendingOrder) {
  EXPECT_EQ(CoreMask({1500, 0, 7}).cores(), (std::vector<int>{0, 7, 1500}));
  EXPECT_TRUE(CoreMask(std::vector<int>()).cores().empty());
}

TEST(CoreMask, BindsThisThreadAndGivesBackWhereItMayRun) {
  const auto before = CoreMask::of_this_thread();
  const int last = before.cores().back();
  ASSERT_TRUE(CoreMask({last}).bind_this_thread());
  const auto narrow = CoreMask::of_this_thread().cores();
  ASSERT_TRUE(before.bind_this_thread());
  EXPECT_EQ(narrow, std::vector<int>{last});
  EXPECT_EQ(CoreMask::of_this_thread().cores(), before.cores());
}

TEST(CoreMask, IsRefusedWithoutACoreOfThisMachine) {
  EXPECT_FALSE(CoreMask({20000}).bind_this_thread());
  EXPECT_EQ(errno, EINVAL);
}

}  // namespace
}  // namespace evolve::core

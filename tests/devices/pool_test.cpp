#include "devices/pool.hpp"

#include <gtest/gtest.h>

namespace evolve::devices {
namespace {

Pool pool_of(const std::vector<std::string>& names) {
  std::vector<hyp::Slot> slots;
  for (const auto& name : names) slots.push_back({.name = name, .environment = {}, .cores = {}});
  return Pool(slots);
}

TEST(Pool, LendsEachSlotOnce) {
  auto pool = pool_of({"cpu:0", "cpu:1"});
  const auto first = pool.try_lease();
  const auto second = pool.try_lease();
  EXPECT_EQ((*first)->name, "cpu:0");
  EXPECT_EQ((*second)->name, "cpu:1");
  EXPECT_FALSE(pool.try_lease());
}

TEST(Pool, LendsASlotAgainOnceItIsGivenUp) {
  auto pool = pool_of({"cpu:0", "cpu:1"});
  auto first = pool.try_lease();
  const auto second = pool.try_lease();
  first.reset();
  EXPECT_EQ((*pool.try_lease())->name, "cpu:0");
}

TEST(Pool, PrefersASlotOtherThanTheOneToAvoid) {
  auto pool = pool_of({"cpu:0", "cpu:0", "cpu:1"});
  const auto other = pool.try_lease("cpu:0");
  EXPECT_EQ((*other)->name, "cpu:1");
  const auto no_other = pool.try_lease("cpu:0");
  EXPECT_EQ((*no_other)->name, "cpu:0");
}

TEST(Pool, MayDieBeforeItsLeases) {
  auto lease = pool_of({"cpu:0"}).try_lease();
  EXPECT_EQ((*lease)->name, "cpu:0");
  lease->reset();
}

}  // namespace
}  // namespace evolve::devices

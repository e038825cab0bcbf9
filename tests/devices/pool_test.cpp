#include "devices/pool.hpp"

#include <gtest/gtest.h>

namespace evolve::devices {
namespace {

Pool pool_of(const std::vector<std::string>& names) {
  std::vector<core::Slot> slots;
  for (const auto& name : names) slots.push_back({.name = name, .environment = {}, .cores = {}});
  return Pool(slots);
}

bool any(const core::Slot&) {
  return true;
}

TEST(Pool, LendsEachSlotOnce) {
  auto pool = pool_of({"cpu:0", "cpu:1"});
  const auto first = pool.try_lease(any);
  const auto second = pool.try_lease(any);
  EXPECT_EQ((*first)->name, "cpu:0");
  EXPECT_EQ((*second)->name, "cpu:1");
  EXPECT_FALSE(pool.try_lease(any));
}

TEST(Pool, LendsASlotAgainOnceItIsGivenUp) {
  auto pool = pool_of({"cpu:0", "cpu:1"});
  auto first = pool.try_lease(any);
  const auto second = pool.try_lease(any);
  first.reset();
  EXPECT_EQ((*pool.try_lease(any))->name, "cpu:0");
}

TEST(Pool, LendsTheFirstSlotThatSuits) {
  auto pool = pool_of({"cpu:0", "xpu:0", "xpu:0"});
  const auto is_xpu = [](const core::Slot& slot) { return slot.name == "xpu:0"; };
  const auto first = pool.try_lease(is_xpu);
  const auto second = pool.try_lease(is_xpu);
  EXPECT_EQ((*second)->name, "xpu:0");
  EXPECT_FALSE(pool.try_lease(is_xpu));
  EXPECT_TRUE(pool.try_lease(any));
}

TEST(Pool, LendsNoLongerWhatHasGone) {
  auto pool = pool_of({"xpu:0", "xpu:0", "xpu:1"});
  auto first = pool.try_lease(any);
  pool.change({{.name = "xpu:1"}, {.name = "xpu:2"}});
  first.reset();
  const auto one = pool.try_lease(any), two = pool.try_lease(any);
  EXPECT_EQ((*one)->name, "xpu:1");
  EXPECT_EQ((*two)->name, "xpu:2");
  EXPECT_FALSE(pool.try_lease(any));
}

TEST(Pool, LendsNoMoreOfADeviceThanItHasNowWhileOneIsLentThatHasGone) {
  auto pool = pool_of({"xpu:0", "xpu:0"});
  auto one = pool.try_lease(any), two = pool.try_lease(any);
  pool.change({{.name = "xpu:0"}});
  one.reset();
  EXPECT_FALSE(pool.try_lease(any));
  two.reset();
  EXPECT_TRUE(pool.try_lease(any));
}

TEST(Pool, KeepsALentSlotThatComesBackBeforeItIsGivenUp) {
  auto pool = pool_of({"xpu:0"});
  auto lease = pool.try_lease(any);
  pool.change({{.name = "xpu:1"}});
  pool.change({{.name = "xpu:0"}});
  EXPECT_FALSE(pool.try_lease(any)) << "it is lent, and there is one of it";
  lease.reset();
  EXPECT_EQ((*pool.try_lease(any))->name, "xpu:0");
}

TEST(Pool, MayDieBeforeItsLeases) {
  auto lease = pool_of({"cpu:0"}).try_lease(any);
  EXPECT_EQ((*lease)->name, "cpu:0");
  lease->reset();
}

TEST(Pool, ShowsADeviceByTheMaskThatItHasNowOnceItIsFree) {
  const auto slot = [](const std::string& name, const std::string& mask) {
    return core::Slot{.name = name, .environment = {{"ZE_AFFINITY_MASK", mask}}};
  };
  Pool pool({slot("xpu:1", "1"), slot("xpu:2", "2")});
  auto lent = pool.try_lease(any);
  pool.change({slot("xpu:1", "0"), slot("xpu:2", "1")});
  EXPECT_EQ(**lent, slot("xpu:1", "1")) << "it is in use";
  EXPECT_EQ(**pool.try_lease(any), slot("xpu:2", "1"));
  lent.reset();
  EXPECT_EQ(**pool.try_lease(any), slot("xpu:1", "0"));
}

}  // namespace
}  // namespace evolve::devices

#include "trainer/data/parallel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/refusal.hpp"

namespace evolve::data {
namespace {

TEST(ForEachIndex, VisitsEveryIndexOnceOnAnyNumberOfThreads) {
  for (const int threads : {1, 2, 5, all_threads}) {
    std::vector<int> visits(1000);
    for_each_index(1000, threads, [&](int i) { ++visits[static_cast<std::size_t>(i)]; });
    EXPECT_EQ(visits, std::vector<int>(1000, 1));
  }
  for_each_index(0, 2, [](int) { FAIL(); });
}

TEST(ForEachIndex, RethrowsTheFailureOfTheLowestIndex) {
  for (int again = 0; again < 100; ++again) {
    EXPECT_EQ(test::refusal<std::runtime_error>([&] {
                for_each_index(200, all_threads, [](int i) {
                  if (i % 50 == 37) throw std::runtime_error(std::to_string(i));
                });
              }),
              "37");
  }
}

TEST(ForEachIndex, WorksOnCoresThatThisProcessIsNotBoundToAndLeavesItWhereItWas) {
  const auto all = core::CoreMask::of_this_thread();
  const std::vector one{all.cores().back()};
  ASSERT_TRUE(core::CoreMask(one).bind_this_thread());
  std::atomic<int> narrow = 0;
  for_each_index(100, Threads(1, all.cores()),
                 [&](int) { narrow += core::CoreMask::of_this_thread().cores() != all.cores(); });
  const auto now = core::CoreMask::of_this_thread().cores();
  all.bind_this_thread();
  EXPECT_EQ(narrow, 0);
  EXPECT_EQ(now, one);
}

TEST(ForEachIndex, UsesNoMoreThreadsThanItIsGiven) {
  for (const int threads : {1, 2}) {
    std::mutex mutex;
    int at_once = 0, most = 0;
    const auto change = [&](int by) {
      const std::lock_guard lock(mutex);
      most = std::max(most, at_once += by);
    };
    // Each call takes so long that a thread too many meets one at work.
    for_each_index(100, threads, [&](int) {
      change(1);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      change(-1);
    });
    EXPECT_GE(most, 1);
    EXPECT_LE(most, threads);
  }
}

}  // namespace
}  // namespace evolve::data

#include "trainer/model/parallel.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/trainer/threads.hpp"
#include "trainer/model/bn_silu.hpp"

namespace evolve::trainer {
namespace {

/// How many threads take part in a loop: each of its calls waits, up to five seconds, until
/// `wanted` threads are in it.
std::size_t threads_in_a_loop(std::int64_t count, std::size_t wanted) {
  std::mutex mutex;
  std::condition_variable arrived;
  std::set<std::thread::id> ids;
  parallel_for(count, [&](std::int64_t) {
    std::unique_lock lock(mutex);
    ids.insert(std::this_thread::get_id());
    arrived.notify_all();
    arrived.wait_for(lock, std::chrono::seconds(5), [&] { return ids.size() >= wanted; });
  });
  return ids.size();
}

TEST(ParallelFor, TakesAsManyThreadsAsTorchHas) {
  const test::Threads three(3);
  EXPECT_EQ(threads_in_a_loop(16, 3), 3U);
  EXPECT_EQ(threads_in_a_loop(2, 2), 2U);
  EXPECT_EQ(threads_in_a_loop(1, 1), 1U);
}

TEST(ParallelFor, StaysOnTheCallersThreadWhereTorchHasOne) {
  const test::Threads one(1);
  std::set<std::thread::id> ids;
  parallel_for(4, [&](std::int64_t) { ids.insert(std::this_thread::get_id()); });
  EXPECT_EQ(ids, std::set<std::thread::id>{std::this_thread::get_id()});
}

TEST(ParallelFor, CallsEachIndexOnce) {
  const test::Threads three(3);
  for (const std::int64_t count : {0, 1, 2, 3, 1000}) {
    std::vector<int> calls(static_cast<std::size_t>(count));
    parallel_for(count, [&](std::int64_t i) { ++calls[static_cast<std::size_t>(i)]; });
    EXPECT_EQ(calls, std::vector<int>(static_cast<std::size_t>(count), 1));
  }
}

TEST(ParallelFor, PassesAnExceptionOn) {
  const test::Threads two(2);
  EXPECT_THROW(parallel_for(8, [](std::int64_t) { throw std::runtime_error("no"); }),
               std::runtime_error);
}

/// What the fused loops make of a map of 40,000 rows: several blocks.
std::vector<std::vector<float>> fused(int thread_count) {
  const test::Threads threads(thread_count);
  const MapShape shape{40000, 24};
  const auto size = static_cast<std::size_t>(shape.rows * shape.channels);
  std::vector<float> map(size), gradient(size);
  for (std::size_t i = 0; i < size; ++i) {
    map[i] = static_cast<float>(std::sin(0.37 * static_cast<double>(i)));
    gradient[i] = static_cast<float>(std::cos(0.61 * static_cast<double>(i)));
  }
  const std::vector<float> gamma(24, 1.5F), beta(24, -0.25F);
  std::vector<double> mean(24), variance(24), inverse(24);
  channel_moments(map.data(), shape, parallel_for, mean.data(), variance.data());
  for (std::size_t c = 0; c < 24; ++c) inverse[c] = 1 / std::sqrt(variance[c] + 1e-3);
  const BatchNorm bn{gamma.data(), beta.data(), mean.data(), inverse.data()};
  std::vector<float> out(size), map_gradient(size), gamma_gradient(24), beta_gradient(24);
  bn_silu(map.data(), shape, bn, parallel_for, out.data());
  bn_silu_backward(map.data(), gradient.data(), shape, bn, parallel_for, map_gradient.data(),
                   gamma_gradient.data(), beta_gradient.data());
  return {out, map_gradient, gamma_gradient, beta_gradient};
}

TEST(BnSilu, GivesToTheLastBitTheSameOnAnyNumberOfThreads) {
  const auto one = fused(1);
  EXPECT_EQ(fused(2), one);
  EXPECT_EQ(fused(3), one);
}

}  // namespace
}  // namespace evolve::trainer

// Work over an index range on a few threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace evolve::data {

/// Calls `work(i)` for every i in 0..count - 1, on `threads` threads (the caller's is one of them).
/// Rethrows the exception of the lowest index that threw, so that a message does not depend on
/// timing.
template <class Work>
void for_each_index(int count, int threads, const Work& work) {
  std::atomic<int> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  int failed = count;
  const auto run = [&] {
    for (int i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (i < failed) failure = std::current_exception();
        failed = std::min(failed, i);
        next = count;
      }
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (int i = 1; i < std::min(threads, count); ++i) helpers.emplace_back(run);
    run();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace evolve::data

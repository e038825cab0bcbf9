// Work over an index range on TBB's threads.
#pragma once

#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>

namespace evolve::data {

/// As many threads as this process may use.
constexpr int all_threads = tbb::task_arena::automatic;

/// Calls `work(i)` for every i in 0..count - 1, in any order, on at most `threads` threads, the
/// caller's among them. Rethrows the exception of the lowest index that throws, so that a message
/// does not depend on timing: once one has thrown, only those below it still run.
template <class Work>
void for_each_index(int count, int threads, const Work& work) {
  std::mutex mutex;
  std::exception_ptr failure;
  std::atomic<int> failed = count;
  // TBB warns on standard error when it is asked for more threads than there are cores.
  const int most = std::min(threads, tbb::info::default_concurrency());
  tbb::task_arena(most).execute([&] {
    tbb::parallel_for(0, count, [&](int i) {
      if (i > failed) return;
      try {
        work(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (i > failed) return;
        failed = i;
        failure = std::current_exception();
      }
    });
  });
  if (failure) std::rethrow_exception(failure);
}

}  // namespace evolve::data

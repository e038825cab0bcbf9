// Work over an index range on TBB's threads.
#pragma once

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_scheduler_observer.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <vector>

#include "core/core_mask.hpp"
#include "trainer/data/threads.hpp"

namespace evolve::data {

static_assert(all_threads == tbb::task_arena::automatic);

/// While it lives, threads that work in an arena may run on these cores; before and after, where
/// they did before.
class OnCores : public tbb::task_scheduler_observer {
 public:
  OnCores(tbb::task_arena& arena, const std::vector<int>& cores)
      : task_scheduler_observer(arena), wider_(cores) {
    observe(true);
  }
  ~OnCores() override { observe(false); }
  OnCores(const OnCores&) = delete;
  OnCores& operator=(const OnCores&) = delete;

  // What the system refuses, a core outside the container for instance, changes nothing.
  void on_scheduler_entry(bool) override { wider_.bind_this_thread(); }
  void on_scheduler_exit(bool) override { before_.bind_this_thread(); }

 private:
  core::CoreMask wider_, before_ = core::CoreMask::of_this_thread();
};

/// Calls `work(i)` for every i in 0..count - 1, in any order, the caller's thread among those that
/// do. Rethrows the exception of the lowest index that throws, so that a message does not depend on
/// timing: once one has thrown, only those below it still run.
template <class Work>
void for_each_index(int count, const Threads& threads, const Work& work) {
  std::mutex mutex;
  std::exception_ptr failure;
  std::atomic<int> failed = count;
  const auto run = [&] {
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
  };
  if (threads.cores.empty()) {
    // TBB warns on standard error when it is asked for more threads than there are cores.
    tbb::task_arena(std::min(threads.count, tbb::info::default_concurrency())).execute(run);
  } else {
    const int most = static_cast<int>(threads.cores.size());
    const tbb::global_control allowed(tbb::global_control::max_allowed_parallelism,
                                      static_cast<std::size_t>(most));
    tbb::task_arena arena(most);
    const OnCores wider(arena, threads.cores);
    arena.execute(run);
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace evolve::data

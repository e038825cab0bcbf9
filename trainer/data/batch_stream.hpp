// Batches made ahead of their use.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "trainer/data/batch.hpp"

namespace evolve::data {

/// Hands out batches 0..count - 1 in order while `workers` threads make the next ones, at most two
/// per worker ahead. Without workers each batch is made when it is asked for, on the caller's
/// thread. `make(index)` must be safe to call from several threads. Destruction waits for batches
/// in the making only.
///
/// Own threads and not TBB: here the caller pulls batches while it trains, and TBB's pipelines push
/// theirs on the caller's thread.
class BatchStream {
 public:
  BatchStream(int count, int workers, std::function<Batch(int)> make);
  ~BatchStream();
  BatchStream(const BatchStream&) = delete;
  BatchStream& operator=(const BatchStream&) = delete;

  /// The next batch, or nothing after the last one. Rethrows what `make` threw for it.
  std::optional<Batch> next();

 private:
  struct Made {
    Batch batch;
    std::exception_ptr failure;
  };

  void work();

  const int count_;
  const int ahead_;
  const std::function<Batch(int)> make_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<int, Made> made_;
  /// The batch that `next` hands out next, and the first one that no worker has begun.
  int next_ = 0, unclaimed_ = 0;
  bool stopping_ = false;
  std::vector<std::jthread> workers_;
};

}  // namespace evolve::data

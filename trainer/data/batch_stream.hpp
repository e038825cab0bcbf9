// Batches made ahead of their use.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace evolve::data {

/// Hands out batches 0..count - 1 in order while `workers` threads make the next ones, at most two
/// per worker ahead. Without workers each batch is made when it is asked for, on the caller's
/// thread. `make(index)` must be safe to call from several threads. Destruction waits for batches
/// in the making only.
///
/// Own threads and not TBB: here the caller pulls batches while it trains, and TBB's pipelines push
/// theirs on the caller's thread.
template <class Batch>
class BatchStream {
 public:
  BatchStream(int count, int workers, std::function<Batch(int)> make)
      : count_(count), ahead_(2 * workers), make_(std::move(make)) {
    for (int i = 0; i < workers; ++i)
      workers_.emplace_back([this](const std::stop_token& stop) { work(stop); });
  }

  ~BatchStream() {
    for (auto& worker : workers_) worker.request_stop();  // all of them before one is waited for
  }

  BatchStream(const BatchStream&) = delete;
  BatchStream& operator=(const BatchStream&) = delete;

  /// The next batch, or nothing after the last one. Rethrows what `make` threw for it.
  std::optional<Batch> next() {
    if (next_ >= count_) return std::nullopt;
    if (workers_.empty()) return make_(next_++);

    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return made_.contains(next_); });
    Made made = std::move(made_.extract(next_++).mapped());
    lock.unlock();
    changed_.notify_all();
    if (made.failure) std::rethrow_exception(made.failure);
    return std::move(made.batch);
  }

 private:
  struct Made {
    Batch batch;
    std::exception_ptr failure;
  };

  void work(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, stop,
                    [this] { return unclaimed_ >= count_ || unclaimed_ < next_ + ahead_; });
      if (stop.stop_requested() || unclaimed_ >= count_) return;
      const int index = unclaimed_++;
      lock.unlock();
      Made made;
      try {
        made.batch = make_(index);
      } catch (...) {
        made.failure = std::current_exception();
      }
      lock.lock();
      made_.emplace(index, std::move(made));
      changed_.notify_all();
    }
  }

  const int count_;
  const int ahead_;
  const std::function<Batch(int)> make_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<int, Made> made_;
  /// The batch that `next` hands out next, and the first one that no worker has begun.
  int next_ = 0, unclaimed_ = 0;
  /// Last, so that they end before what they use does.
  std::vector<std::jthread> workers_;
};

template <class Make>
BatchStream(int, int, Make) -> BatchStream<std::invoke_result_t<Make, int>>;

}  // namespace evolve::data

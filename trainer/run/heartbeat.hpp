// Signs of life of a trainer at work.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>

namespace evolve::trainer {

/// Passes on, once per interval at most, that work goes on. The loops that do the work call it for
/// each image, batch or iteration, and no timer does: a trainer that hangs falls silent.
class Heartbeat {
 public:
  using Clock = std::chrono::steady_clock;

  /// `send` is never called by two threads at a time.
  explicit Heartbeat(std::function<void()> send, Clock::duration interval = std::chrono::seconds(2))
      : send_(std::move(send)), interval_(interval) {}

  /// Safe to call from several threads. `now`: a test's clock.
  void operator()(Clock::time_point now = Clock::now());

 private:
  std::function<void()> send_;
  Clock::duration interval_;
  std::mutex mutex_;
  Clock::time_point last_ = Clock::now();
};

}  // namespace evolve::trainer

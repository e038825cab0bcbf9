// Signs of life of a trainer at work.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <string>

namespace evolve::trainer {

/// Passes on, once per interval at most, that work goes on. The loops that do the work call it for
/// each image, batch or iteration, and no timer does: a trainer that hangs falls silent.
class Heartbeat {
 public:
  using Clock = std::chrono::steady_clock;

  /// `preparing`: what is done before anything is trained, "images 120/3000"; else "". `send` is
  /// never called by two threads at a time.
  using Send = std::function<void(const std::string& preparing)>;

  explicit Heartbeat(Send send, Clock::duration interval = std::chrono::seconds(2))
      : send_(std::move(send)), interval_(interval) {}

  /// Safe to call from several threads, as all of these. `now`: a test's clock.
  void operator()(Clock::time_point now = Clock::now());
  /// So many of so many images are prepared; 0 of 0: their number says nothing. See data::Beat.
  void prepared(int done, int all);

 private:
  void beat(Clock::time_point now, const auto& preparing);

  Send send_;
  Clock::duration interval_;
  std::mutex mutex_;
  Clock::time_point last_ = Clock::now();
};

}  // namespace evolve::trainer

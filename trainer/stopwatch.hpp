// How long parts of the work take.
#pragma once

#include <chrono>
#include <utility>

namespace evolve::trainer {

class Stopwatch {
 public:
  /// Seconds since the last call, the first time since the beginning.
  double lap() {
    const auto before = std::exchange(last_, Clock::now());
    return std::chrono::duration<double>(last_ - before).count();
  }
  /// Seconds since the beginning.
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - begun_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begun_ = Clock::now(), last_ = begun_;
};

}  // namespace evolve::trainer

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

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point last_ = Clock::now();
};

}  // namespace evolve::trainer

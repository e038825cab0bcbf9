// For how long this process was stopped.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

namespace evolve::workers {

/// Notices when all of this process stands still: after SIGSTOP or Ctrl-Z, or in a container that
/// is frozen. A thread that only looks at the clock falls behind then, and at no other time: not
/// while the others compute, or wait for a slow disk.
class StoppedTime {
 public:
  using Clock = std::chrono::steady_clock;

  StoppedTime();

  /// In all, since this began. What a busy machine may explain is not counted.
  Clock::duration so_far() const;

 private:
  void look(const std::stop_token& stop);

  mutable std::mutex mutex_;
  std::condition_variable_any ended_;
  /// Until the clock was looked at for the last time, and when that was.
  Clock::duration before_{};
  Clock::time_point looked_ = Clock::now();
  /// Ends first.
  std::jthread thread_;
};

}  // namespace evolve::workers

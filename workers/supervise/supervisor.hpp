// The event loop of the thread that has worker processes.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <chrono>
#include <functional>
#include <vector>

#include "core/stop_source.hpp"
#include "workers/supervise/stopped_time.hpp"

namespace evolve::workers {

using Clock = std::chrono::steady_clock;

class SupervisedProcess;

/// Sees to all that its processes do. It installs no signal handler; a request of
/// `stop` wakes it up.
class Supervisor {
 public:
  /// `stop` must outlive it.
  explicit Supervisor(const core::StopSource& stop);
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  /// Sees to all that happens until `condition` holds, or until then; returns whether it holds.
  bool wait_for(const std::function<bool()>& condition, Clock::time_point until);
  /// Waits for something to happen, until then or for a second at the most, and sees to all of it,
  /// or as much as can be seen to in a moment: the rest has its turn in the next step.
  /// Time in which we were stopped (SIGSTOP, Ctrl-Z) is held against nobody.
  void step(Clock::time_point until);

  /// Ends every process and its group: asks (one at work by SIGTERM), waits for two seconds at most
  /// (one, when a stop was requested), then terminates, then kills. A further request kills at
  /// once.
  void end_all() noexcept;

  bool stop_requested() const { return stop_.requests() > 0; }
  /// The same within a moment, where a process has ended: whoever stops us may have told it first.
  bool stop_follows();

 private:
  friend class SupervisedProcess;
  void wake_up_at_stop();
  /// For how long we were stopped, as far as that is not excused yet.
  Clock::duration away() const { return stopped_.so_far() - excused_; }
  /// Excuses that, up to now.
  void excuse(Clock::time_point now);
  void send_all(int number);
  /// No longer than that, nor once there were more requests to stop than `seen`.
  bool wait_until_all_gone(std::chrono::milliseconds timeout, int seen);

  const core::StopSource& stop_;
  /// Outlives the processes: its handlers refer to them, but are destroyed without being called.
  boost::asio::io_context io_;
  boost::asio::posix::stream_descriptor stop_descriptor_{io_};
  std::vector<SupervisedProcess*> processes_;
  /// When the last step ended.
  Clock::time_point stepped_ = Clock::now();
  StoppedTime stopped_;
  Clock::duration excused_{};
};

}  // namespace evolve::workers

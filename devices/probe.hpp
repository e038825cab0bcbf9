// Work that may crash or hang, done in a process of its own.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>

#include "core/file_descriptor.hpp"
#include "devices/clock.hpp"

namespace evolve::devices {

/// What the work came to: its text, or what went wrong with it ("it crashed (SIGSEGV)").
struct Probed {
  std::string text;
  std::string problem;
  /// It ended by a signal.
  bool crashed = false;
  /// The process of work that is stuck in its driver: SIGKILL has not ended it. 0: none.
  pid_t stuck = 0;
};

/// A child process at `work`. A vendor's library that `work` loads is gone with the child: one that
/// crashes, hangs, prints, or changes how signals and forks behave does no harm here. An exception
/// of `work` is a problem in its words. The child has none of our files but the pipe, and no
/// terminal; it is killed when the limit is over, and dies with us.
///
/// The child has a copy of this process' memory, and of its threads only the one that makes it: for
/// a process whose other threads are idle, holding no lock.
class Probe {
 public:
  /// Throws std::system_error when no process can be started.
  Probe(const std::function<std::string()>& work, std::chrono::milliseconds limit);
  /// Kills a child that is still at work.
  ~Probe();
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  /// Waits for the end of the work or of its time, no longer than `patience`; whether it has come.
  bool wait(std::chrono::milliseconds patience);
  /// What the work came to; to be called once, after wait() has returned true.
  Probed result();

 private:
  /// Reads what comes until then; whether anything, or the end, has come.
  bool read(Clock::time_point until);
  /// Kills it, if it is still there. The process that does not even die of that, else 0.
  pid_t end();

  std::chrono::milliseconds limit_;
  Clock::time_point until_;
  /// -1 once it has been reaped.
  pid_t id_ = -1;
  /// Closed once its end has been read.
  core::FileDescriptor pipe_;
  int status_ = 0;
  std::string text_;
};

/// Does `work` in a probe and waits for its text, no longer than `limit`. That no process can be
/// started now is a problem too.
Probed in_a_probe(const std::function<std::string()>& work, std::chrono::milliseconds limit);

}  // namespace evolve::devices

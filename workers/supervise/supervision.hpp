// Worker processes that are watched: they must speak, stay connected, and end when they are told
// to.
#pragma once

#include <signal.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/slot.hpp"
#include "hyp/trial.hpp"
#include "workers/protocol/messages.hpp"
#include "workers/supervise/process.hpp"

namespace evolve::workers {

using Clock = std::chrono::steady_clock;

/// How long a process that was asked to end by SIGTERM is waited for, before its group gets
/// SIGKILL.
constexpr std::chrono::milliseconds grace{1000};

/// How long a process may take over its work.
struct Patience {
  /// The longest silence: a line of its standard output ends it, what it logs does not.
  std::optional<std::chrono::seconds> silence;
  std::optional<std::chrono::seconds> in_all;
};

/// What the owner of a process hears of it.
struct SupervisedEvents {
  /// A line of its standard output. A std::invalid_argument that it throws is the reason of a
  /// protocol failure.
  std::function<void(std::string_view)> line;
  /// What it wrote to standard error.
  std::function<void(std::string_view)> log;
  /// It is gone, and so are its descendants. Why: the first failure, else a crash with how it ended
  /// and its last words.
  std::function<void(const hyp::Failed&)> gone;
};

class Supervised;

/// The event loop of the main thread while there are workers. While it lives, SIGINT and SIGTERM
/// are counted instead of ending the process, and SIGPIPE is ignored.
class Supervisor {
 public:
  Supervisor();
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  /// Sees to all that happens until `condition` holds, or until then; returns whether it holds.
  bool wait_for(const std::function<bool()>& condition, Clock::time_point until);
  /// Waits for something to happen, until then or for a second at the most, and sees to all of it.
  /// Time in which we were stopped (SIGSTOP, Ctrl-Z) is held against nobody.
  void step(Clock::time_point until);

  /// Ends every process and its group: asks (one at work by SIGTERM), waits for two seconds at most
  /// (one, when interrupted), then terminates, then kills. A further SIGINT or SIGTERM kills at
  /// once.
  void end_all() noexcept;

  /// The signal that came last, or 0.
  int signal() const { return signal_; }

 private:
  friend class Supervised;
  void listen();
  void send_all(int number);
  bool wait_until_all_gone(std::chrono::milliseconds patience);

  struct sigaction broken_pipe_before_ {};
  /// Outlives the processes: its handlers refer to them, but are destroyed without being called.
  boost::asio::io_context io_;
  boost::asio::signal_set signals_{io_, SIGINT, SIGTERM};
  std::vector<Supervised*> processes_;
  int signal_ = 0;
  int signals_seen_ = 0;
  /// When the last step ended.
  Clock::time_point stepped_ = Clock::now();
};

/// A worker process. Whatever it does wrong ends it, and only then is the failure told: a dying
/// process may still hold the device's memory.
class Supervised {
 public:
  /// Starts the command; throws std::system_error when it cannot be executed. `supervisor` must
  /// outlive the process.
  Supervised(Supervisor& supervisor, const std::vector<std::string>& command, const core::Slot& slot,
             SupervisedEvents events);
  ~Supervised();
  Supervised(const Supervised&) = delete;
  Supervised& operator=(const Supervised&) = delete;

  /// Work for a process that has none: the line is sent once it is ready.
  void assign(std::string line, const Patience& patience);
  /// A further word to a process at work.
  void say(std::string line) { process_->send(std::move(line)); }
  /// It has said that it can take work.
  void on(const Ready& message);
  /// It has done its work.
  void rest() { patience_.reset(); }

  /// Ends the process; the first reason counts.
  void fail(hyp::FailureKind kind, const std::string& message);
  /// Asks the process to end, with a signal too when it is at work.
  void dismiss();
  void signal(int number) { process_->signal(number); }

  /// The line of its work is out, and the work not done.
  bool at_work() const { return patience_ && unsent_.empty(); }
  /// Its work can be taken up, or goes on.
  bool sound() const { return !gone_ && !kill_at_ && !broken_at_; }
  /// It has exited: nothing more will come from it.
  bool gone() const { return gone_; }

  /// The next moment at which tick() has something to do.
  std::optional<Clock::time_point> deadline() const;
  /// We were not there for this time until now: no deadline runs meanwhile.
  void excuse(Clock::duration time, Clock::time_point now);
  /// Acts on silence, time limits and graces that have run out.
  void tick(Clock::time_point now);

 private:
  void hear(std::string_view line);
  void log(std::string_view bytes);
  void exited(int status);

  Supervisor& supervisor_;
  /// What its device must be.
  std::string uuid_, pci_;
  SupervisedEvents events_;
  /// The latest of what it wrote to standard error.
  std::string last_words_;
  /// Waits until the process is ready.
  std::string unsent_;
  /// With its work, while there is any.
  std::optional<Patience> patience_;
  Clock::time_point assigned_;
  Clock::time_point heard_ = Clock::now();
  bool ready_ = false;
  bool gone_ = false;
  /// It closed one of its streams then.
  std::optional<Clock::time_point> broken_at_;
  /// Decided, and told when the process is gone.
  std::optional<hyp::Failed> verdict_;
  /// It was told to end; SIGKILL follows then.
  std::optional<Clock::time_point> kill_at_;
  std::shared_ptr<Process> process_;
};

}  // namespace evolve::workers

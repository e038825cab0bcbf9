// A worker process that is watched: it must speak, stay connected, and end when it is told to.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/slot.hpp"
#include "hyp/outcome.hpp"
#include "workers/protocol/messages.hpp"
#include "workers/supervise/process.hpp"
#include "workers/supervise/supervisor.hpp"

namespace evolve::workers {

/// How long a process that was asked to end by SIGTERM is waited for, before its group gets
/// SIGKILL.
constexpr std::chrono::milliseconds grace{1000};

/// How long a process that got SIGKILL is waited for: longer than it takes a driver to free all of
/// a card's memory. One that is still there is stuck in its driver.
constexpr std::chrono::seconds last_grace{20};

/// How long a process may take over its work.
struct TimeLimits {
  /// The longest time without a line on its standard output; what it logs does not count.
  std::optional<std::chrono::seconds> hang;
  /// The longest time that the work may take, what it says that it prepares not counted; the
  /// process may take as long to be ready for it.
  std::optional<std::chrono::seconds> in_all;
  /// The time that the work has taken already, of what it is to take in all.
  std::chrono::milliseconds before{};
};

/// Why a process is gone: the first failure, else a crash with how it ended and its last words.
struct Ending {
  hyp::FailureKind kind = hyp::FailureKind::other;
  std::string message;
  /// The process had not yet reported that it can take work.
  bool failed_before_ready = false;
  /// The process had done work before, and what ended it need have nothing to do with what it was
  /// given since: not a line about that, and the order was never read, or the exit code was 0
  /// without a word.
  bool between_work = false;
  /// The same, as far as one can tell: the first line that it wrote since made no sense, or it ran
  /// out of time and had not read the order.
  bool maybe_between_work = false;
  bool operator==(const Ending&) const = default;
};

/// What a line of a process says: nothing that we know, something about work that it had before (a
/// sign of life may be late), or something else.
enum class Sense { none, of_earlier_work, some };

/// What the owner of a process is notified of.
struct SupervisedEvents {
  /// A line of its standard output. A std::invalid_argument that it throws is the reason of a
  /// protocol failure.
  std::function<Sense(std::string_view)> line;
  /// What the process wrote to standard error.
  std::function<void(std::string_view)> log;
  /// The process is gone, and so are its descendants; or it is given up, stuck in its driver.
  std::function<void(const Ending&)> gone;
};

/// A worker process. Whatever it does wrong ends it, and only then is the failure reported: a dying
/// process may still hold the device's memory.
class SupervisedProcess {
 public:
  /// Starts the command; throws std::system_error when it cannot be executed. `supervisor` must
  /// outlive the process.
  SupervisedProcess(Supervisor& supervisor, const std::vector<std::string>& command,
                    const core::Slot& slot, SupervisedEvents events);
  ~SupervisedProcess();
  SupervisedProcess(const SupervisedProcess&) = delete;
  SupervisedProcess& operator=(const SupervisedProcess&) = delete;

  /// Work for a process that has none: the line is sent once it is ready.
  void assign(std::string line, const TimeLimits& limits);
  /// A further line to a process at work.
  void send(std::string line) {
    received_ = Clock::now();
    process_->send(std::move(line));
  }
  /// The process has reported that it can take work.
  void on(const Ready& message);
  /// The process sends signs of life while it works.
  void on(const Alive& message);
  /// The process has done its work.
  void rest() {
    limits_.reset();
    has_worked_ = true;
  }

  /// Ends the process; the first reason counts, and of that it returns true.
  bool fail(hyp::FailureKind kind, const std::string& message);
  /// Asks the process to end, with a signal too when it is at work.
  void shut_down();
  void signal(int number) { process_->signal(number); }

  /// Seconds that the work has taken: not while we were stopped, nor what the process took to be
  /// ready for it; of one that was never ready just that.
  double seconds() const;
  /// Of these, what its time limit does not count: what it says that it prepares.
  double prepared() const;

  /// The line of its work is out, and the work not done.
  bool at_work() const { return limits_ && unsent_.empty(); }
  /// The process' work can be taken up, or goes on.
  bool sound() const { return !gone_ && !kill_at_ && !broken_at_; }
  /// The process has exited or is given up: nothing more will come from it.
  bool gone() const { return gone_; }

  /// The next moment at which tick() has something to do.
  std::optional<Clock::time_point> deadline() const;
  /// Until now we were stopped for this `time`: no deadline runs meanwhile.
  void excuse(Clock::duration time, Clock::time_point now);
  /// For so long nobody was there to read what it sends.
  void excuse_silence(Clock::duration time, Clock::time_point now);
  /// When something that it wrote to standard error was read.
  Clock::time_point logged() const { return logged_; }
  /// Acts on silence, time limits and graces that have run out.
  void tick(Clock::time_point now);

 private:
  void receive(std::string_view line);
  /// The longest time without a line, as things are.
  std::optional<std::chrono::seconds> hang_limit() const;
  std::string lateness_text(std::chrono::seconds in_all) const;
  std::string hang_text(std::chrono::seconds limit) const;
  /// When a process that has closed a stream is given up.
  std::optional<Clock::time_point> broken_until() const;
  /// The last line of what it wrote to standard error, as the end of a sentence; "" where it wrote
  /// nothing.
  std::string last_words() const;
  /// The same of a process that ended so; where it was killed, what that says.
  std::string words_of(int status) const;
  /// The same of a last line of its standard output that says nothing that we know.
  std::string unknown_words() const;
  /// Nobody waits for it any longer.
  void give_up();
  void log(std::string_view bytes);
  void exited(int status);
  /// Sends what waits for the process, which is ready.
  void begin();
  /// See Ending::between_work.
  bool ended_between_work(bool exited_well);
  /// Ends a process that has not done what it should by now.
  void out_of_time(hyp::FailureKind kind, const std::string& message);

  Supervisor& supervisor_;
  /// Of the slot's devices: the worker's must be one of them.
  std::vector<core::DeviceIdentity> identities_;
  SupervisedEvents events_;
  /// The latest of what it wrote to standard error.
  std::string last_words_;
  /// The last line of its standard output, where that says nothing that we know.
  std::string unknown_;
  /// Waits until the process is ready.
  std::string unsent_;
  /// With its work, while there is any.
  std::optional<TimeLimits> limits_;
  /// When its work began, and from when its time is limited: `before` earlier, both.
  Clock::time_point assigned_, limited_from_;
  Clock::time_point received_ = Clock::now();
  Clock::time_point logged_ = {};
  bool has_heartbeat_ = false;
  bool has_worked_ = false;
  /// Whether it has said anything since it was given its work, but about earlier work.
  bool heard_ = false;
  bool ready_ = false;
  bool gone_ = false;
  /// It closed one of its streams then.
  std::optional<Clock::time_point> broken_at_;
  /// Decided, and reported when the process is gone.
  std::optional<Ending> ending_;
  /// It was told to end; SIGKILL follows then, and later it is given up.
  std::optional<Clock::time_point> kill_at_, give_up_at_;
  std::shared_ptr<Process> process_;
};

}  // namespace evolve::workers

// One worker: a process, and the trial that it is at.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "hyp/slot.hpp"
#include "hyp/trial.hpp"
#include "trainer/worker/messages.hpp"
#include "trainer/worker/process.hpp"
#include "trainer/worker/worker_set.hpp"

namespace evolve::worker {

using Clock = std::chrono::steady_clock;

/// How long a process that was asked to end by SIGTERM is waited for, before its group gets
/// SIGKILL.
constexpr std::chrono::milliseconds grace{1000};

/// A trial under way, and the slot that is lent to it.
struct Job {
  hyp::Trial trial;
  int attempt = 1;
  hyp::Lease lease;
  Clock::time_point started = Clock::now();
};

/// A trial that has ended. The slot is free once the lease is given up.
struct Ended {
  hyp::Outcome outcome;
  hyp::Lease lease;
};

/// Serves one trial after the other until anything fails; then its process is ended, and only then
/// is the trial's failure told (a dying process may still hold the device's memory).
class Worker {
 public:
  /// Starts the process; throws std::system_error when it cannot be executed. `settings` and `io`
  /// must outlive the worker. Each trial's end is told to `ended`.
  Worker(boost::asio::io_context& io, const WorkerSettings& settings, const hyp::Slot& slot,
         std::function<void(Ended)> ended);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Gives an idle worker its next trial; its log, `<directory>/trials/000017/log`, is opened.
  void start(Job job);

  const std::string& slot() const { return slot_; }
  bool idle() const { return !job_ && !gone_ && !kill_at_ && !broken_at_; }
  /// The process has exited: nothing more will come from this worker.
  bool gone() const { return gone_; }
  bool busy() const { return job_.has_value(); }
  std::optional<Progress> progress() const;

  /// The next moment at which tick() has something to do.
  std::optional<Clock::time_point> deadline() const;
  /// Acts on silence, time limits and graces that have run out.
  void tick(Clock::time_point now);

  /// Asks the process to end, with a signal too when it is at work.
  void dismiss();
  void signal(int number) { process_->signal(number); }

 private:
  void hear(std::string_view line);
  void on(const Ready& message);
  void on(const Epoch& message);
  void on(const Result& message);
  void on(const Failure& message);
  void send_trial();
  /// False, after a protocol failure, when it is not the trial that it was given.
  bool speaks_of_its_trial(int trial);
  void log(std::string_view bytes);
  void fail(hyp::FailureKind kind, const std::string& message);
  void exited(int status);
  void end(decltype(hyp::Outcome::result) result);

  const WorkerSettings& settings_;
  std::string slot_;
  std::function<void(Ended)> ended_;
  std::optional<Job> job_;
  /// The job's train message is out.
  bool sent_ = false;
  int epoch_ = 0;
  hyp::Metrics metrics_;
  std::ofstream log_;
  std::string log_path_;
  /// The latest of what it wrote to standard error.
  std::string last_words_;

  bool ready_ = false;
  bool gone_ = false;
  Clock::time_point heard_ = Clock::now();
  /// It closed one of its streams then.
  std::optional<Clock::time_point> broken_at_;
  /// Decided, and told when the process is gone.
  std::optional<hyp::Failed> verdict_;
  /// It was told to end; SIGKILL follows then.
  std::optional<Clock::time_point> kill_at_;
  std::shared_ptr<Process> process_;
};

/// "exit code 3", "killed by signal 9 (SIGKILL)", from a wait status or -1.
std::string describe_ending(int status);

}  // namespace evolve::worker

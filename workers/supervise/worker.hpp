// One worker of a run, and the trial that it is at.
#pragma once

#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/slot.hpp"
#include "hyp/trial.hpp"
#include "workers/protocol/messages.hpp"
#include "workers/supervise/supervision.hpp"
#include "workers/supervise/worker_set.hpp"

namespace evolve::workers {

/// A trial under way, and the slot that is lent to it.
struct Assignment {
  hyp::Trial trial;
  int attempt = 1;
  core::Lease lease;
  std::vector<int> rungs = {};
  Clock::time_point started = Clock::now();
};

/// A trial that has ended. The slot is free once the lease is given up.
struct Ended {
  hyp::Outcome outcome;
  core::Lease lease;
};

/// Serves one trial after the other until anything fails.
class Worker {
 public:
  /// Starts the process; throws std::system_error when it cannot be executed. `settings` and
  /// `supervisor` must outlive the worker. Each trial's end is told to `ended`.
  Worker(Supervisor& supervisor, const WorkerSettings& settings, const core::Slot& slot,
         std::function<void(Ended)> ended);

  /// Gives an idle worker its next trial; its log, `<directory>/trials/000017/log`, is opened.
  void start(Assignment assignment);

  const std::string& slot() const { return slot_; }
  bool idle() const { return !assignment_ && process_.sound(); }
  /// The process has exited: nothing more will come from this worker.
  bool gone() const { return process_.gone(); }
  bool busy() const { return assignment_.has_value(); }
  /// It has trained an epoch or a whole trial.
  bool grown() const { return grown_; }
  std::optional<Progress> progress() const;

 private:
  void hear(std::string_view line);
  void on(const Ready& message) { process_.on(message); }
  void on(const Epoch& message);
  void on(const Result& message);
  void on(const Failure& message);
  void on(const Alive&) {}
  /// False, after a protocol failure, when it is not the trial that it was given.
  bool speaks_of_its_trial(int trial);
  void log(std::string_view bytes);
  Error log_failed(int error) const;
  void failed(hyp::Failed failure);
  void end(decltype(hyp::Outcome::result) result);

  const WorkerSettings& settings_;
  std::string slot_;
  std::function<void(Ended)> ended_;
  std::optional<Assignment> assignment_;
  int epoch_ = 0;
  bool grown_ = false;
  hyp::Metrics metrics_;
  std::ofstream log_;
  std::string log_path_;
  Supervised process_;
};

}  // namespace evolve::workers

// The worker processes of a run: one per slot, alive across trials, replaced after any failure.
//
// messages.hpp is what is said, process.hpp a child process that talks in lines, keeper.hpp what
// stands between it and us, supervision.hpp how it is watched and ended, worker.hpp one process
// with its trial; the set below is what the coordinator sees.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "hyp/rung.hpp"
#include "core/slot.hpp"
#include "hyp/trial.hpp"

namespace evolve::workers {

struct WorkerSettings {
  /// The trainer's command: program and arguments, run without a shell.
  std::vector<std::string> command;
  /// Epochs of a trial, as sent.
  int epochs = 1;
  /// Sent with every trial under the key "options".
  nlohmann::ordered_json options = nlohmann::ordered_json::object();
  /// The run directory; trials/000017/ is made in it and its log written.
  std::string directory;
  /// The longest that a trial may take in all.
  std::optional<std::chrono::seconds> trial_timeout;
  /// The longest silence of a worker at work; any message counts as a sign of life, its log does
  /// not.
  std::chrono::seconds hang_timeout{600};
  /// The only judge of a result.
  std::function<double(const hyp::Metrics&)> fitness;
  /// Called from within wait_some() for a trial at a rung: whether it stops there. The fitness may
  /// be not finite. What it throws is passed on.
  std::function<bool(const hyp::Rung&)> stops = {};
};

/// A sign of life, for the screen.
struct Progress {
  int trial = 0;
  std::string device;
  /// The last one that ended; 0 before the first.
  int epoch = 0;
  int epochs = 0;
  hyp::Metrics metrics;
};

/// Belongs to the main thread. Workers and all of their descendants die with it. While it lives,
/// SIGINT and SIGTERM end wait_some() instead of the process, and SIGPIPE is ignored.
class WorkerSet {
 public:
  explicit WorkerSet(WorkerSettings settings);
  /// Ends every worker and its process group: asks (a worker at work by SIGTERM), waits for two
  /// seconds at most (one, when interrupted), then terminates, then kills. A further SIGINT or
  /// SIGTERM kills at once.
  ~WorkerSet();

  /// Hands a trial to the slot's worker, which is started first if there is none. The lease comes
  /// back to its pool when wait_some() returns the trial's outcome. A command that cannot be
  /// executed is an `Error` as long as no worker ever could be started; later it is the failure of
  /// the trial.
  ///
  /// After the epochs in `rungs` the trial waits to hear whether it goes on.
  void start(const hyp::Trial& trial, int attempt, core::Lease lease, std::vector<int> rungs = {});

  /// Waits until at least one trial has ended and returns all that have, in the order in which they
  /// ended; an empty vector after `patience` without one. Nothing: interrupted by SIGINT or SIGTERM
  /// (see signal()), and no outcome is left to return.
  ///
  /// A Failed outcome has `final` as it is by default, and comes when the worker and its
  /// descendants are gone. Throws `Error` when a log cannot be written.
  std::optional<std::vector<hyp::Outcome>> wait_some(std::chrono::milliseconds patience);

  /// Number of trials handed over whose outcome has not been returned.
  int busy() const;
  /// Progress of each trial under way, in the order in which their workers were started.
  std::vector<Progress> progress() const;
  /// The workers on a slot's device, by the slot's name.
  core::WorkerCount crew(const std::string& slot) const;
  /// The signal that interrupted, or 0.
  int signal() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace evolve::workers

// The worker processes of a run: one per slot, alive across trials, replaced after any failure.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "hyp/slot.hpp"
#include "hyp/trial.hpp"

namespace evolve::worker {

struct WorkerSettings {
  /// The trainer's command: program and arguments, run without a shell.
  std::vector<std::string> command;
  /// Epochs of a trial, as sent.
  int epochs = 1;
  /// Sent with every trial under the key "options".
  nlohmann::ordered_json options = nlohmann::ordered_json::object();
  /// The run directory; trials/000017/ is made in it and its log written.
  std::string directory;
  std::optional<std::chrono::seconds> trial_timeout;
  /// The longest silence of a worker at work.
  std::chrono::seconds hang_timeout{600};
  /// The only judge of a result.
  std::function<double(const hyp::Metrics&)> fitness;
};

/// A sign of life, for the screen.
struct Progress {
  int trial = 0;
  std::string device;
  int epoch = 0;
  int epochs = 0;
  hyp::Metrics metrics;
};

class WorkerSet {
 public:
  explicit WorkerSet(WorkerSettings settings);
  /// Ends every worker and its process group: asks, waits briefly, kills.
  ~WorkerSet();

  /// Hands a trial to the slot's worker, which is started first if there is none. The lease comes back
  /// to its pool when the trial's outcome is returned by wait_some().
  void start(const hyp::Trial& trial, int attempt, hyp::Lease lease);

  /// Waits until at least one trial has ended and returns all that have, in the order in which they ended;
  /// an empty vector after `patience` without one. Nothing: interrupted by SIGINT or SIGTERM (see signal()).
  std::optional<std::vector<hyp::Outcome>> wait_some(std::chrono::milliseconds patience);

  /// Number of trials under way.
  int busy() const;
  /// Progress of each trial under way, by slot.
  std::vector<Progress> progress() const;
  /// The signal that interrupted, or 0.
  int signal() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace evolve::worker

// A run before it starts, as one value.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/slot.hpp"
#include "devices/accelerator.hpp"
#include "devices/slots.hpp"
#include "results/run_settings.hpp"
#include "workers/supervise/worker_set.hpp"

namespace evolve::engine {

/// What a run's policy is towards failures.
struct FailurePolicy {
  /// Further attempts at a trial that failed.
  int retries = 2;
  /// Looks, when a trial fails and the worker has said why, at what every trial needs (its data
  /// set, its weights): what is wrong with it, or nothing. Empty where only the trainer knows what
  /// that is.
  std::function<std::optional<std::string>(const std::string& said)> find_fault = {};
  /// Looks whether a file that all trials begin with (weights, a model table) is another one now
  /// than when the run began: what is wrong, or nothing. It is asked every second.
  std::function<std::optional<std::string>()> find_change = {};
  /// Where `find_fault` finds nothing, nothing is wrong: it looks at all that the trainer needs.
  bool sees_data = false;
};

/// What of the files that trainers leave in the trials' folders is removed.
struct Leftovers {
  /// Of how many of the best trials the weights are kept; nothing: of all.
  std::optional<int> keep_weights = {};
  /// Whether what a paused trial has left to go on from (hyp::kept_training) is removed once it
  /// will not: that of the trainers that come with evolve is. A folder is an outside trainer's own
  /// to clean up.
  bool remove_kept_trainings = false;
};

struct Settings {
  /// What the journal's first line says.
  results::RunSettings run;
  /// Where trials run, and the accelerators among their devices, as they were found.
  std::vector<core::Slot> slots;
  std::vector<devices::Accelerator> accelerators = {};
  /// What a `--devices` specification means now to a run that has such slots, for its `devices`
  /// file. Throws `Error`. Empty: the devices stay as they are.
  std::function<devices::Choice(const std::string& spec, const devices::Had& had)> choose_devices =
      {};
  /// The trainer and its time limits.
  workers::WorkerSettings workers;
  /// What is sent to the trainer with each trial under the key "options".
  nlohmann::ordered_json trainer_options = nlohmann::ordered_json::object();
  /// Whether a trial can be paused; nothing: its workers say so.
  std::optional<bool> can_pause = {};
  FailurePolicy failures = {};
  Leftovers leftovers = {};
  /// No trial is started after so many seconds.
  std::optional<double> time_limit = {};
};

}  // namespace evolve::engine

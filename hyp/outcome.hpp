// How an attempt at a trial ended: completed, stopped, paused or failed.
#pragma once

#include <string>
#include <variant>

#include "core/device_identity.hpp"
#include "hyp/metrics.hpp"

namespace evolve::hyp {

/// Trained to its last epoch.
struct Completed {
  Metrics metrics = {};
  double fitness = 0;
  bool operator==(const Completed&) const = default;
};

/// Stopped early at a rung.
struct Stopped {
  int epoch = 0;
  Metrics metrics = {};
  double fitness = 0;
  bool operator==(const Stopped&) const = default;
};

/// Paused at a rung: it may go on from there.
struct Paused {
  int epoch = 0;
  Metrics metrics = {};
  double fitness = 0;
  bool operator==(const Paused&) const = default;
};

enum class FailureKind { crash, timeout, hang, protocol, oom, diverged, device_lost, data, other };
const std::string& name_of(FailureKind kind);
/// The kind of that name; an unknown name is `other`.
FailureKind failure_kind(const std::string& name);
/// A crash, a timeout, a hang, a breach of the protocol or `other`: kinds that name no cause. A
/// program that is no longer there fails so whatever it is to train; therefore many of these in a
/// row point to the surroundings. Too little memory, a lost device, data and divergence are causes.
bool is_unexplained(FailureKind kind);

/// Did not train to an end. Never a fitness, never the best.
struct Failed {
  FailureKind kind = FailureKind::other;
  std::string message = {};
  /// The trial's log, relative to the run directory.
  std::string log = {};
  /// No further attempt follows.
  bool final = true;
  /// The worker had not yet reported that it can take work.
  bool failed_before_ready = false;
  /// The worker's program could not even be started, which no device has to do with.
  bool not_started = false;
  /// What failed is not the trial but what it needs: its data, the disk, its device, a worker that
  /// starts. It is not held against the trial.
  bool of_surroundings = false;
  /// Nobody's fault: the attempt's device was taken out of the run, or what its process wrote may
  /// have been about the trial before.
  bool excused = false;
  /// Nobody but the trainer could look at what it says is wrong with its data.
  bool unconfirmed = false;
  /// The last epoch that its trainer reported (from 1); 0: none, or not before it went on.
  int epoch = 0;
  bool operator==(const Failed&) const = default;
};

/// How one attempt at a trial ended.
struct Outcome {
  int trial = 0;
  /// Name of the slot that trained it: "cpu:0".
  std::string device = {};
  /// From 1.
  int attempt = 1;
  double seconds = 0;
  /// How many of these were spent on what serves all trials, as decoding their images does.
  double prepared = 0;
  /// Of that repeat, if not 0; the trial itself has completed before.
  int repeat = 0;
  std::variant<Completed, Stopped, Paused, Failed> result = {};
  /// The identity of the device that the trainer says it had; empty where it does not tell.
  core::DeviceIdentity identity = {};
};

/// Whether no further attempt at the trial follows: it is neither paused nor tried again.
bool ends_trial(const Outcome& outcome);

/// The last epoch that the attempt finished; `epochs`, all of the run's, for one that completed.
int reached_epoch(const Outcome& outcome, int epochs);

}  // namespace evolve::hyp

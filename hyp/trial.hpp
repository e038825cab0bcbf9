// A trial is one training of one hyperparameter set; an outcome is how it ended.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/device_identity.hpp"
#include "hyp/hyperparameters.hpp"

namespace evolve::hyp {

/// The seven numbers of a training's last epoch, in the order of evolve.csv's columns.
struct Metrics {
  double precision = 0;
  double recall = 0;
  double map50 = 0;
  double map50_95 = 0;
  double box_loss = 0;
  double obj_loss = 0;
  double cls_loss = 0;

  static constexpr std::size_t count = 7;
  /// Column names: "metrics/precision", … "val/cls_loss".
  static const std::array<std::string, count>& names();
  std::array<double, count> values() const;
  static Metrics from_values(const std::array<double, count>& values);
  bool operator==(const Metrics&) const = default;
};

/// Whether all seven are finite.
bool is_finite(const Metrics& metrics);
/// {"metrics/precision": 0.5, …}
nlohmann::ordered_json to_json(const Metrics& metrics);
/// Throws std::invalid_argument that names the metric which is missing, no number or not finite.
Metrics metrics_from_json(const nlohmann::ordered_json& json);

struct Trial {
  /// From 0; the start hyp is trial 0.
  int number = 0;
  int generation = 0;
  Hyperparameters hyp = {};
  /// Depends on the run's seed and on which trial and repeat it is only.
  std::uint64_t seed = 0;
  /// 0: the trial itself; from 1: which repeat of it. A repeat trains a completed trial once more,
  /// with another seed and to the last epoch: it says how lucky the trial was, and is nothing to
  /// breed from.
  int repeat = 0;
  /// It goes on after these epochs, where it was paused; 0: from the beginning.
  int start_epoch = 0;
  /// It is paused after this epoch; 0: trained to its last one.
  int pause_epoch = 0;
  /// Where trainings are paused: the epochs after which its fitness is looked at, that one last.
  std::vector<int> looks = {};
};

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
/// A crash, a timeout, a hang, a breach of the protocol or `other`: it does not say of what. A
/// program that has gone fails so whatever it is to train, so many of these in a row say something
/// of the surroundings; too little memory, a lost device, data and divergence say their cause.
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
  /// What failed is not the trial but what it needs: its data, the disk, its device, a worker that
  /// starts. It is not held against the trial.
  bool of_surroundings = false;
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
  /// Of that repeat, if not 0; the trial itself has completed before.
  int repeat = 0;
  std::variant<Completed, Stopped, Paused, Failed> result = {};
  /// Of the device that its trainer says it had; empty where it does not tell.
  core::DeviceIdentity identity = {};
};

/// Whether no further attempt at the trial follows: it is neither paused nor tried again.
bool ends_trial(const Outcome& outcome);

/// The last epoch that the attempt finished; `epochs`, all of the run's, for one that completed.
int reached_epoch(const Outcome& outcome, int epochs);

}  // namespace evolve::hyp

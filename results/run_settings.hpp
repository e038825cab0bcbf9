// What makes a run what it is: the first line of its journal. The keys are a contract with scripts
// that read it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "hyp/fitness.hpp"
#include "hyp/space.hpp"

namespace evolve::results {

/// A set that an earlier run trained, as far as it evolves here. Nothing: that failed.
struct EarlierTrial {
  hyp::Hyperparameters hyp;
  std::optional<double> fitness = {};
  bool operator==(const EarlierTrial&) const = default;
};

/// An earlier run, with its absolute path; of those that come with evolve the name.
struct EarlierRun {
  std::string run;
  std::vector<EarlierTrial> trials = {};
  /// How many more lie outside this run's bounds.
  int outside = 0;
  /// How many of the genes that evolve it does not name: they are taken as at the start.
  int unnamed = 0;
  bool operator==(const EarlierRun&) const = default;
};

/// {"event":"run","version":1,…}: what the run was begun with.
struct RunSettings {
  std::uint64_t seed = 0;
  std::string search = "screened";
  std::optional<int> lag = {};
  int population = 50;
  int generations = 300;
  std::optional<int> trials = {};
  /// Epochs that may be trained in all.
  std::optional<int> max_epochs = {};
  int repeats = 0;
  /// Of one training.
  int epochs = 1;
  /// Trainings may be stopped or paused before their last epoch.
  bool early_stop = true;
  /// An expression over the metrics: see hyp::Fitness.
  std::string fitness = hyp::Fitness::standard;
  /// Names of the slots that it began with.
  std::vector<std::string> slots = {};
  /// The UUID of each slot's device, or the PCI address, "A+B" of a group, "" where that is not
  /// known; none where it is known of no slot.
  std::vector<std::string> identities = {};
  hyp::Space space = {};
  /// Sets that join the first generation after the start.
  std::vector<hyp::Hyperparameters> initial = {};
  /// What the run knows from the beginning.
  std::vector<EarlierRun> earlier = {};
  /// What the run's trials train on, so that a resumed run can tell whether they still do: null
  /// where that is not known here.
  nlohmann::ordered_json inputs = {};
  /// The options of the command line, for whoever made them. What is above is kept there too.
  nlohmann::ordered_json options = nlohmann::ordered_json::object();
  bool operator==(const RunSettings&) const = default;
};

nlohmann::ordered_json to_json(const RunSettings& settings);
/// The inverse. Throws std::exception that says which key is missing or wrong.
RunSettings run_settings_from_json(const nlohmann::ordered_json& json);

}  // namespace evolve::results

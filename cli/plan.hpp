// A run before it starts: the options turned into a space, the search's settings and slots.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "devices/accelerator.hpp"
#include "ga/evolution.hpp"
#include "core/slot.hpp"
#include "workers/supervise/worker_set.hpp"

namespace evolve::cli {

struct Plan {
  Options options;
  hyp::Space space;
  /// Sets that join the first generation after the start.
  std::vector<hyp::Hyperparameters> initial;
  ga::Settings search;
  std::vector<core::Slot> slots;
  /// The accelerators among their devices, as they were found.
  std::vector<devices::Accelerator> accelerators;
  /// What was found and chosen.
  std::vector<std::string> device_notes;
  /// What a look at the data set found: images without labels, empty classes.
  std::vector<std::string> notes;
};

/// The plan of a new run. Reads the space, hyp and population files and looks over the data set.
/// Throws `Error` for whatever is wrong with any of them, before anything is written or trained.
Plan make_plan(const Options& options);

/// The plan of a run to go on with: `run` is the first line of its `journal`, `now` the command
/// line. Throws `Error` where that line makes no sense.
Plan resumed_plan(const Options& now, const nlohmann::ordered_json& run,
                  const std::string& journal);

/// How many trials are left for the search when the repeats are taken off; nothing: as many as the
/// generations have. Throws `Error` when none are left.
std::optional<int> search_trials(const ga::Settings& bounds, int repeats);

/// What the first line of the journal says of a plan.
nlohmann::ordered_json run_line(const Plan& plan);

/// How the plan's trials are trained in the run directory `directory`.
workers::WorkerSettings worker_settings(const Plan& plan, const std::string& directory);

/// What will run, for the screen: "48 trials (4 generations of 12) on 2 slots: cpu:0, cpu:1", …
std::vector<std::string> description(const Plan& plan);

}  // namespace evolve::cli

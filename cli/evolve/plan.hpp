// The options turned into what the engine runs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/evolve/evolve_options.hpp"
#include "cli/screen/screen.hpp"
#include "engine/settings.hpp"

namespace evolve::cli {

struct Plan {
  EvolveOptions options;
  engine::Settings settings;
  /// What was found and chosen.
  std::vector<std::string> device_notes;
  /// What a person should know of the data set, the start, the population and the command.
  std::vector<std::string> notes;
  /// A note that the trainer of a run to go on with is another than the run began with.
  std::optional<std::string> note_on_trainer;
};

/// The plan of a new run. Reads the space, hyp and population files and looks over the data set,
/// which is told on the screen. Throws `Error` for whatever is wrong with any of them, before
/// anything is written or trained.
Plan make_plan(const EvolveOptions& options, Screen& screen);

/// The plan of a run to go on with: `run` is the first line of its journal, `slots` are those that
/// it had last, `now` is the command line.
/// Throws `Error` as `make_plan` does, but for the inputs of the trials.
Plan resumed_plan(const EvolveOptions& now, const results::RunSettings& run,
                  const std::vector<std::string>& slots, const std::string& journal);

/// Looks over what every trial needs, its data set and weights, as a start does, and writes into
/// the plan what the run has (settings.run.inputs), what its trainer is told of that, how its
/// faults are found (settings.failures), `notes` and `note_on_trainer`. Throws `Error` for what is
/// missing, and for what is not what the run began with, unless it `may_change`.
void settle_inputs(Plan& plan, bool may_change, Screen& screen);

/// A note on a run of somebody's own trainer that began in another folder than this one, to be said
/// before anything is found to be missing.
std::optional<std::string> note_on_folder(const results::RunSettings& run);

/// "xpu:0, xpu:1"; of very many "npu:0, npu:1, npu:2, … npu:199".
std::string listed(std::vector<std::string> slots);

/// What will run, for the screen: "48 trials (4 generations of 12) on 2 slots: cpu:0, cpu:1", …
std::vector<std::string> plan_lines(const Plan& plan);

}  // namespace evolve::cli

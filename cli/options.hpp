// What the user asked for, as one value. Nothing later reads argv.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli/command_line.hpp"
#include "cli/destination.hpp"
#include "cli/python_trainer.hpp"
#include "trainer/options.hpp"

namespace evolve::cli {

/// The options of the main job, `evolve`. Durations are texts ("90m") until they are used.
struct Options {
  int generations = 300;
  int population = 50;
  std::optional<int> trials;
  std::optional<int> max_epochs;
  int repeats = 0;
  std::string time_limit;
  std::string devices = "auto";
  /// The visibility variable of a device kind that evolve does not know, or "".
  std::string device_env;
  /// How workers start: "local", "slurm", or a command.
  std::string launcher = "local";
  std::string search = "screened";
  std::optional<int> lag;
  std::uint64_t seed = 0;

  std::string space;
  std::string evolve_genes;
  std::string hyp;
  std::string fitness;
  std::string evolve_population;
  std::string resume_evolve;
  /// Earlier runs, with commas between.
  std::string from;

  /// "built-in", or the name of one that comes along.
  std::string trainer = "built-in";
  /// One of the three at most.
  std::string trainer_command, trainer_exec;
  std::string trial_timeout;
  std::string hang_timeout = "10m";
  int retries = 2;
  /// -1: of all trials.
  int keep_weights = 10;
  bool early_stop = true;
  trainer::TrainOptions train;

  Destination destination{.project = "runs/evolve"};
  /// A run directory, or "" for the newest.
  std::optional<std::string> resume;
  bool dry_run = false;

  Given given;

  /// Of the environment: it runs the trainers that come along.
  Python python;

  bool has_external_trainer() const {
    return trainer != "built-in" || !trainer_command.empty() || !trainer_exec.empty();
  }
};

/// Declares the options of the main job on `app`; they are filled in when it parses.
void declare(CLI::App& app, Options& options);
/// To be called after parsing: fills `given`, makes the paths of input files absolute, and lets the
/// data set choose the defaults of what was not given. Throws `Error` for values that make no
/// sense.
void complete(const CLI::App& app, Options& options);

/// The paths in `from`.
std::vector<std::string> earlier_runs(const Options& options);

/// Everything that makes a run what it is: opt.yaml, and the journal's first line.
nlohmann::ordered_json to_json(const Options& options);
/// The options to go on with: those of the run (as its journal has them), with what the command
/// line may change (bounds, devices, timeouts). Throws `Error` when it gives another value to
/// anything else.
Options resumed(const Options& now, const nlohmann::ordered_json& run);

}  // namespace evolve::cli

// What `evolve`, the main job, is asked for, as one value. Nothing later reads argv.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options/command_line.hpp"
#include "cli/options/destination.hpp"
#include "cli/trainers/python.hpp"
#include "cli/trainers/trainer.hpp"
#include "results/run_settings.hpp"
#include "trainer/options.hpp"

namespace evolve::cli {

/// How long things may take; nothing: there is no limit.
struct RunLimits {
  /// No trial is started after so many seconds.
  std::optional<double> run_seconds;
  std::optional<std::chrono::seconds> trial, hang;
};

/// The options that say how long and where a run is trained and what it keeps, not what it is:
/// --resume takes others.
inline constexpr std::array<std::string_view, 8> how_it_runs = {
    "time_limit",    "devices",      "device_env", "launcher",
    "trial_timeout", "hang_timeout", "retries",    "keep_weights"};

/// The options that name what trials train on. --resume takes another place for those that its
/// journal can tell to be the same (results::RunSettings::inputs).
inline constexpr std::array<std::string_view, 3> input_files = {"data", "weights", "cfg"};
/// Whether a run that began with these inputs takes such a file from another place.
bool may_be_elsewhere(std::string_view option, const nlohmann::ordered_json& inputs);

/// The commands of outside trainers, of which a run has one: --resume takes it from another place.
inline constexpr std::array<std::string_view, 2> trainer_commands = {"trainer_command",
                                                                     "trainer_exec"};

/// Texts ("90m", a command) are kept as they were given, for opt.yaml; `trainer` and `limits` are
/// what they mean.
struct EvolveOptions {
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

  TrainerTexts trainer_texts;
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

  /// The Python of the environment: it runs the trainers that come along.
  Python python;

  /// Read from the texts by `complete` and `resumed`.
  Trainer trainer;
  RunLimits limits;
};

/// Declares the options of the main job on `app`; they are filled in when it parses.
void declare(CLI::App& app, EvolveOptions& options);
/// To be called after parsing: fills `given`, makes the paths of input files absolute, and lets the
/// data set choose the defaults of what was not given. Throws `Error` for values that make no
/// sense.
void complete(const CLI::App& app, EvolveOptions& options);

/// The paths in `from`.
std::vector<std::string> earlier_runs(const EvolveOptions& options);

/// Everything that makes a run what it is: opt.yaml, and the journal's first line.
nlohmann::ordered_json to_json(const EvolveOptions& options);
/// The options to go on with: those of the run, with what the command line may change (bounds,
/// devices, timeouts, where its files are). Throws `Error` when it gives another value to
/// anything else.
EvolveOptions resumed(const EvolveOptions& now, const results::RunSettings& run);

}  // namespace evolve::cli

// What the user asked for, as one value. Nothing later reads argv or the environment.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

#include "trainer/options.hpp"

namespace CLI {
class App;
}

namespace evolve::cli {

/// The options of the main job, `evolve`. Durations are texts ("90m") until they are used.
struct Options {
  int generations = 300;
  int population = 50;
  std::optional<int> trials;
  std::string time_limit;
  std::string devices = "auto";
  std::string search = "classic";
  std::optional<int> lag;
  std::uint64_t seed = 0;

  std::string space;
  std::string evolve_genes;
  std::string hyp;
  std::string fitness;
  std::string evolve_population;
  std::string resume_evolve;

  std::string trainer_command;
  std::string trial_timeout;
  std::string hang_timeout = "10m";
  int retries = 2;
  trainer::TrainOptions train;

  std::string project = "runs/evolve";
  std::string name = "exp";
  bool exist_ok = false;
  std::string output;
  /// A run directory, or "" for the newest.
  std::optional<std::string> resume;
  bool dry_run = false;

  /// Names (as in `to_json`) of the options that the command line gave.
  std::set<std::string> given;
};

/// Declares the options of the main job on `app`; they are filled in when it parses.
void declare(CLI::App& app, Options& options);
/// To be called after parsing: fills `given`, makes the paths of input files absolute, and lets the
/// data set choose the defaults of what was not given. Throws `Error` for values that make no
/// sense.
void complete(const CLI::App& app, Options& options);

/// Everything that makes a run what it is: opt.yaml, and the journal's first line.
nlohmann::ordered_json to_json(const Options& options);
/// The options to go on with: those of the run (as its journal has them), with what the command
/// line may change (bounds, devices, timeouts). Throws `Error` when it gives another value to
/// anything else.
Options resumed(const Options& now, const nlohmann::ordered_json& run);

/// Seconds of "90", "90s", "15m", "12h", "1h30m"; throws `Error` that names the option.
std::optional<double> duration_seconds(const std::string& text, const std::string& option);

}  // namespace evolve::cli

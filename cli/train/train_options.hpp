// What `evolve train` is asked for, as one value.
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli/options/command_line.hpp"
#include "cli/options/destination.hpp"
#include "trainer/options.hpp"

namespace evolve::cli {

struct TrainCommandOptions {
  trainer::TrainOptions train;
  /// A hyp file, or "" for YOLOv5's hyp.scratch-low.
  std::string hyp;
  std::uint64_t seed = 0;
  /// One device, or "auto".
  std::string devices = "auto";
  std::string hang_timeout = "10m";
  Destination destination{.project = "runs/train"};
  /// The folder of a training or its last.pt, or "" for the newest.
  std::optional<std::string> resume;
  Given given;

  /// What `hang_timeout` means: `complete` and `resumed` read it. Nothing: there is no limit.
  std::optional<std::chrono::seconds> hang_limit;
};

/// Declares them on `app`, the subcommand; they are filled in when it parses.
void declare(CLI::App& app, TrainCommandOptions& options);

/// To be called after parsing: makes the paths of input files absolute, and lets the data set
/// choose the defaults of what was not given. Throws `Error` for values that make no sense.
void complete(const CLI::App& app, TrainCommandOptions& options);

/// Everything that makes a training what it is: opt.yaml.
nlohmann::ordered_json to_json(const TrainCommandOptions& options);
/// The options to go on with: those of the run (as opt.yaml has them), on the devices and with
/// the workers that the command line gives. Throws `Error` when it gives another value to anything
/// else; nlohmann's exceptions when `run` does not hold the options of a training.
TrainCommandOptions resumed(const TrainCommandOptions& now, const nlohmann::ordered_json& run);

}  // namespace evolve::cli

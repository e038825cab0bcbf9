// What `evolve train` and `evolve val` are asked for, each as one value.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli/command_line.hpp"
#include "cli/destination.hpp"
#include "trainer/options.hpp"

namespace evolve::cli {

struct TrainArguments {
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
};

struct ValArguments {
  /// What a validation needs of them.
  trainer::TrainOptions options{.batch_size = 32};
  /// "val", "test" or "train".
  std::string task = "val";
  bool rect = true;
  std::string devices = "auto";
  Destination destination{.project = "runs/val"};
  /// A file for the numbers, or "".
  std::string json;
};

/// Declare the options of a command on `app`, its subcommand; they are filled in when it parses.
void declare(CLI::App& app, TrainArguments& arguments);
void declare(CLI::App& app, ValArguments& arguments);

/// To be called after parsing: makes the paths of input files absolute, and lets the data set
/// choose the defaults of what was not given. Throw `Error` for values that make no sense.
void complete(const CLI::App& app, TrainArguments& arguments);
void complete(const CLI::App& app, ValArguments& arguments);

/// Everything that makes a training what it is: opt.yaml.
nlohmann::ordered_json to_json(const TrainArguments& arguments);
/// The arguments to go on with: those of the run (as opt.yaml has them), on the devices and with
/// the workers that the command line gives. Throws `Error` when it gives another value to anything
/// else; nlohmann's exceptions when `run` is no such thing.
TrainArguments resumed(const TrainArguments& now, const nlohmann::ordered_json& run);

}  // namespace evolve::cli

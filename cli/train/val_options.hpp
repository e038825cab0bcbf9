// What `evolve val` is asked for, as one value.
#pragma once

#include <string>

#include "cli/options/destination.hpp"
#include "trainer/options.hpp"

namespace evolve::cli {

struct ValCommandOptions {
  /// What a validation needs of a training's options.
  trainer::TrainOptions train{.batch_size = 32};
  /// "val", "test" or "train".
  std::string task = "val";
  bool rect = true;
  std::string devices = "auto";
  Destination destination{.project = "runs/val"};
  /// A file for the numbers, or "".
  std::string json;
};

/// Declares them on `app`, the subcommand; they are filled in when it parses.
void declare(CLI::App& app, ValCommandOptions& options);

/// To be called after parsing, as that of `evolve train`. Throws `Error` for values that make no
/// sense.
void complete(const CLI::App& app, ValCommandOptions& options);

}  // namespace evolve::cli

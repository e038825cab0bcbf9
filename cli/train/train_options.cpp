#include "cli/train/train_options.hpp"

#include <CLI/CLI.hpp>

#include "cli/options/option_json.hpp"
#include "cli/options/trainer_options.hpp"
#include "core/error.hpp"

namespace evolve::cli {
namespace {

/// The options that make the training what it is, besides the trainer's own: the one list of their
/// names.
constexpr auto kept_of_a_training = [](auto& options, auto visit) {
  visit("hyp", options.hyp);
  visit("seed", options.seed);
  visit("devices", options.devices);
  visit("hang_timeout", options.hang_timeout);
};

}  // namespace

void declare(CLI::App& app, TrainCommandOptions& o) {
  declare_data(app, o.train, "Training");
  declare_training(app, o.train, "Training", "Epochs");
  app.add_option("--patience", o.train.patience,
                 "Stop after this many epochs without a better fitness; 0: never")
      ->group("Training")
      ->capture_default_str();
  app.add_option("--hyp", o.hyp, "Hyperparameters (YAML); default: YOLOv5's hyp.scratch-low")
      ->group("Training");
  app.add_option("--seed", o.seed, "Seed of everything random")
      ->group("Training")
      ->check(seed_fault, "")
      ->capture_default_str();
  declare_one_device(app, o.devices);
  app.add_option("--hang-timeout", o.hang_timeout,
                 "Longest time without a message from the trainer; 0: no limit")
      ->group("Running")
      ->capture_default_str();
  declare(app, o.destination, "Running", "a training that is in it is deleted, its weights too");
  app.add_option("--resume", o.resume, "Go on with this training; default: the newest in --project")
      ->group("Running")
      ->expected(0, 1)
      ->type_name("[DIR]");
  app.add_option("--evolve")->group("")->expected(0, 1);  // as YOLOv5's train.py has it
}

void complete(const CLI::App& app, TrainCommandOptions& o) {
  o.given = given_on(app);
  if (o.given.contains("evolve"))
    throw bad_argument("evolve train --evolve", "plain evolve evolves: leave out train --evolve");
  make_absolute(o.train);
  make_absolute(o.hyp);
  default_to_shapes(o.train, o.given);
  default_model(o.train);
  check_training(o.train);
  if (o.resume) check_stays(o.given, *o.resume);
  if (o.train.patience < 0)
    throw bad_argument("--patience " + std::to_string(o.train.patience) + ": too few",
                       "write 0 or more");
  o.hang_limit = duration(o.hang_timeout, "--hang-timeout");
}

nlohmann::ordered_json to_json(const TrainCommandOptions& options) {
  return options_to_json(options, kept_of_a_training);
}

TrainCommandOptions resumed(const TrainCommandOptions& now, const nlohmann::ordered_json& run) {
  auto options = now;
  const auto merged = options_to_resume(run, to_json(now), now.given, {"devices", "hang_timeout"});
  // Where one is missing, the file is another program's.
  kept_of_a_training(options, [&](const char* name, const auto&) { merged.at(name); });
  options_from_json(merged, options, kept_of_a_training);
  settle_folder(options.train);
  options.hang_limit = duration(options.hang_timeout, "--hang-timeout");
  return options;
}

}  // namespace evolve::cli

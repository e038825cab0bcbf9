#include "cli/arguments.hpp"

#include <CLI/CLI.hpp>

#include "cli/training_options.hpp"
#include "core/error.hpp"

namespace evolve::cli {
namespace {

/// Calls `visit(name, member)` for each option that makes the training what it is, besides the
/// trainer's own: the one list of their names.
template <class Arguments, class Visit>
void for_each_option(Arguments& arguments, Visit visit) {
  visit("hyp", arguments.hyp);
  visit("seed", arguments.seed);
  visit("devices", arguments.devices);
  visit("hang_timeout", arguments.hang_timeout);
}

void declare_device(CLI::App& app, std::string& devices, const char* group) {
  app.add_option("--devices,--device", devices, "One device: auto, cuda:0, xpu:0, cpu (all cores)")
      ->group(group)
      ->capture_default_str();
}

}  // namespace

void declare(CLI::App& app, TrainArguments& a) {
  declare_data(app, a.train, "Training");
  declare_training(app, a.train, "Training", "Epochs");
  app.add_option("--patience", a.train.patience,
                 "Stop after this many epochs without a better fitness; 0: never")
      ->group("Training")
      ->capture_default_str();
  app.add_option("--hyp", a.hyp, "Hyperparameters (YAML); default: YOLOv5's hyp.scratch-low")
      ->group("Training");
  app.add_option("--seed", a.seed, "Seed of everything random")
      ->group("Training")
      ->check(seed_fault, "")
      ->capture_default_str();
  declare_device(app, a.devices, "Running");
  app.add_option("--hang-timeout", a.hang_timeout,
                 "Longest time without a message from the trainer; 0: no limit")
      ->group("Running")
      ->capture_default_str();
  declare(app, a.destination, "Running");
  app.add_option("--resume", a.resume, "Go on with this training; default: the newest")
      ->group("Running")
      ->expected(0, 1)
      ->type_name("[DIR]");
  app.add_option("--evolve")->group("")->expected(0, 1);  // as YOLOv5's train.py has it
}

void declare(CLI::App& app, ValArguments& a) {
  declare_data(app, a.options, "Validation", "Weights to evaluate (.pt); required");
  app.add_option("--task", a.task, "Split of the data set: val, test or train")
      ->group("Validation")
      ->check(CLI::IsMember({"val", "test", "train"}))
      ->capture_default_str();
  app.add_flag("--rect,!--no-rect", a.rect, "Rectangular batches; the default")
      ->group("Validation");
  app.add_option("--conf,--conf-thres", a.options.conf, "Least confidence of a detection")
      ->group("Validation")
      ->check(share_fault, "")
      ->capture_default_str();
  app.add_option("--iou,--iou-thres", a.options.iou, "IoU from which NMS drops a detection")
      ->group("Validation")
      ->check(share_fault, "")
      ->capture_default_str();
  app.add_option("--json", a.json, "Write the numbers to this file too")->group("Validation");
  declare_device(app, a.devices, "Running");
  declare(app, a.destination, "Running");
}

void complete(const CLI::App& app, TrainArguments& a) {
  a.given = given_on(app);
  if (a.given.contains("evolve"))
    throw bad_argument("evolve train --evolve", "plain evolve evolves: leave out train --evolve");
  make_absolute(a.train);
  make_absolute(a.hyp);
  default_to_shapes(a.train, a.given);
  default_model(a.train);
  check_training(a.train);
  if (a.train.patience < 0)
    throw bad_argument("--patience " + std::to_string(a.train.patience), "0 or more");
  duration_seconds(a.hang_timeout, "--hang-timeout");
}

void complete(const CLI::App& app, ValArguments& a) {
  const auto given = given_on(app);
  make_absolute(a.options);
  if (a.options.data == default_data && !given.contains("imgsz")) a.options.imgsz = 96;
  if (!given.contains("weights"))
    throw bad_argument("evolve val: there are no --weights", "name a .pt file with --weights");
  check_batches(a.options, 32);
}

nlohmann::ordered_json to_json(const TrainArguments& arguments) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for_each_option(arguments,
                  [&](const char* name, const auto& value) { json[name] = json_of(value); });
  json.update(trainer::to_json(arguments.train));
  return json;
}

TrainArguments resumed(const TrainArguments& now, const nlohmann::ordered_json& run) {
  TrainArguments arguments = now;
  const auto merged = options_to_resume(run, to_json(now), now.given, {"devices", "hang_timeout"});
  for_each_option(arguments,
                  [&](const char* name, auto& value) { assign(merged.at(name), value); });
  arguments.train = trainer::train_options_from_json(merged);
  return arguments;
}

}  // namespace evolve::cli

#include "cli/evolve/evolve_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "cli/options/trainer_options.hpp"
#include "core/error.hpp"
#include "engine/launcher.hpp"

namespace evolve::cli {
namespace {

/// What only a trainer that speaks the worker protocol can be told.
void check_for_a_command(const EvolveOptions& options) {
  for (const auto* key : {"cache", "fraction", "skip_bad"})
    if (const auto it = options.given.find(key); it != options.given.end())
      throw bad_argument(it->second + ": --trainer-exec does not pass this on to its command",
                         "write the command's own option for it into the command");
}

void check_known(const PythonTrainer& trainer, const EvolveOptions& options) {
  for (const auto& key : trainer.unknown_options)
    if (const auto it = options.given.find(key); it != options.given.end()) {
      const bool off = key == "amp" && !options.train.amp;
      throw bad_argument(
          (off ? "--no-amp" : it->second) + ": " + trainer.name + " has no such option",
          "leave it out");
    }
}

/// What a trainer that comes along needs, and what it cannot take.
void check_for(const PythonTrainer& trainer, const EvolveOptions& options) {
  const auto name = "--trainer " + trainer.name;
  if (!options.given.contains("data"))
    throw bad_argument(name + " needs a data set",
                       "name one with --data, such as " + trainer.example_data);
  if (options.train.cfg.empty() && options.train.weights.empty())
    throw bad_argument(name + " needs a model",
                       "name one with --model, such as " + trainer.example_model);
  check_known(trainer, options);
  if (const int batch = options.train.batch_size; batch < 1 && batch != -1)
    throw bad_argument(fmt::format("--batch-size {}: too few", batch),
                       "write 1 or more, or -1 for AutoBatch");
  if (is_yolov5(trainer)) check_optimizer(options.train);
  const auto fault =
      is_ultralytics(trainer) ? ultralytics_optimizer_fault(options.train.optimizer) : std::nullopt;
  if (fault)
    throw bad_argument("--optimizer " + options.train.optimizer + ": " + *fault,
                       "name one, such as " + trainer.optimizer);
}

void check_trainer(const EvolveOptions& options) {
  match(
      options.trainer, [&](const BuiltIn&) { check_training(options.train); },
      [&](const PythonTrainer* trainer) { check_for(*trainer, options); },
      [](const WorkerCommand&) {}, [&](const TrialCommand&) { check_for_a_command(options); });
}

void check_keep_weights(const EvolveOptions& options) {
  const auto given = options.given.find("keep_weights");
  if (given == options.given.end()) return;
  if (options.keep_weights < -1)
    throw bad_argument(fmt::format("{} {}", given->second, options.keep_weights),
                       "a number of trials, or -1 for all of them");
  if (!python_trainer(options.trainer))
    throw bad_argument(given->second + ": evolve keeps the weights of trials only with --trainer",
                       "leave it out");
}

void check_device_env(const std::string& name) {
  const auto fits = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  const bool digit = !name.empty() && std::isdigit(static_cast<unsigned char>(name.front()));
  if (!std::ranges::all_of(name, fits) || digit)
    throw bad_argument("--device-env " + name + ": this is no name of a variable",
                       "write a name such as NPU_VISIBLE_DEVICES");
}

}  // namespace

void check_one_trainer(const Given& given) {
  std::vector<std::string> trainers;
  for (const auto* key : {"trainer", "trainer_command", "trainer_exec"})
    if (const auto it = given.find(key); it != given.end()) trainers.push_back(it->second);
  if (trainers.size() > 1)
    throw bad_argument(trainers[0] + " and " + trainers[1] + ": a run has one trainer",
                       "leave one of them out");
}

void check_resumed_trainer(const EvolveOptions& options) {
  const bool is_command =
      !options.trainer_texts.command.empty() || !options.trainer_texts.exec.empty();
  if (const auto it = options.given.find("trainer"); is_command && it != options.given.end())
    throw bad_argument(it->second + ": the run to resume has a command of its own",
                       "leave the option out, or start a new run");
  if (std::holds_alternative<TrialCommand>(options.trainer)) check_for_a_command(options);
  if (const auto* trainer = python_trainer(options.trainer)) check_known(*trainer, options);
  check_keep_weights(options);
}

void check(const EvolveOptions& options) {
  check_device_env(options.device_env);
  check_epochs(options.train);
  if (options.resume) {
    check_stays(options.given, *options.resume);  // see check_resumed_trainer() for the rest
  } else {
    check_trainer(options);
    check_keep_weights(options);
  }
  engine::check_launcher(options.launcher);
  if (options.retries < 0)
    throw bad_argument(fmt::format("--retries {}: too few", options.retries), "write 0 or more");
  if (options.repeats < 0)
    throw bad_argument(fmt::format("--repeats {}: too few", options.repeats), "write 0 or more");
  if (!earlier_runs(options).empty() && options.search == "classic")
    throw bad_argument("--from: the classic search has no model that could learn from earlier runs",
                       "leave out --search classic");
}

}  // namespace evolve::cli

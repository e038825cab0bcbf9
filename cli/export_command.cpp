#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "cli/commands.hpp"
#include "cli/options/destination.hpp"
#include "cli/trainers/python.hpp"
#include "core/error.hpp"
#include "core/spawn.hpp"
#include "results/results.hpp"
#include "trainer/checkpoint/weights_file.hpp"

namespace evolve::cli {
namespace {

namespace fs = std::filesystem;

int run_module(const Python& python, const std::string& module,
               std::vector<std::string> arguments) {
  const auto child = core::spawn({.words = module_command(python, module, std::move(arguments)),
                                  .output = STDOUT_FILENO,
                                  .errors = STDERR_FILENO,
                                  .in_child = core::die_with_us()});
  const int status = core::wait_status(child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/// YOLOv5's own files need no export, and other tensors say nothing of their model.
void check_trained_here(const std::string& weights) {
  if (trainer::read_summary(weights).is_ours) return;
  throw bad_input({weights}, "evolve has not trained these weights",
                  "name a best.pt or last.pt of evolve train, or the folder of the training");
}

/// `target` is a module of python/evolve/export, and the package that it needs.
int export_run(const std::string& target, const std::string& run) {
  const auto directory = results::open_run(run);
  const auto python = python_of_environment();
  check_package(python, target, "evolve export " + target);
  return run_module(python, "evolve.export", {target, directory.root.string()});
}

/// A checkpoint of YOLOv5's from weights that evolve has trained, or from the best of a training's
/// folder; beside them by default.
int export_weights(const std::string& weights, const std::string& output) {
  const fs::path given = weights;
  if (!fs::exists(given))
    throw bad_input({weights}, "there is no such training",
                    "name its folder, or weights of evolve train");
  if (results::holds_run({given}))
    throw bad_input({weights},
                    "this is the folder of an evolution, which has no weights of its own",
                    "name that of an evolve train, or its weights");
  const auto file = fs::is_directory(given) ? results::RunDirectory{given}.best_weights() : given;
  const auto target = output.empty() ? trainer::exported(file).string() : output;
  check_output(target);
  check_trained_here(file);
  const auto python = python_of_environment();
  check_yolov5(python, "evolve export yolov5");
  std::vector<std::string> arguments = {file, target};
  if (!python.yolov5.empty()) arguments.push_back(python.yolov5);
  return run_module(python, "evolve.export.yolov5", std::move(arguments));
}

}  // namespace

Command export_command(CLI::App& app) {
  struct Arguments {
    std::string target, what, output;
  };
  const auto given = std::make_shared<Arguments>();
  auto* command = app.add_subcommand(
      "export", "Write a run, or trained weights, for other programs, with their Python packages");
  command
      ->add_option("TARGET", given->target,
                   "tensorboard, mlflow, wandb, optuna: a run; yolov5: weights")
      ->required()
      ->check(CLI::IsMember({"tensorboard", "mlflow", "wandb", "optuna", "yolov5"}));
  command
      ->add_option("WHAT", given->what,
                   "The folder of a run, which may still be going on; for yolov5 that of a "
                   "training, or its weights")
      ->required();
  auto* output =
      command->add_option("-o,--output", given->output,
                          "yolov5: file to write; default: NAME_yolov5.pt beside NAME.pt");
  return {command, [given, output] {
            if (given->target == "yolov5")
              return printed(export_weights(given->what, given->output));
            if (output->count() > 0)
              throw bad_argument("-o: a run is written where " + given->target + " looks for it",
                                 "leave it out");
            return printed(export_run(given->target, given->what));
          }};
}

}  // namespace evolve::cli

// The program `evolve`: reads the command line, runs one command, turns errors into exit codes.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdlib>

#include "cli/commands.hpp"
#include "core/error.hpp"
#include "workers/exec/exec_worker.hpp"

namespace evolve::cli {
namespace {

/// An option before a command is one of plain evolve, and would be lost.
void refuse_lost_options(const CLI::App& app) {
  if (app.get_subcommands().empty()) return;
  const auto& command = app.get_subcommands().front()->get_name();
  for (const auto& [key, option] : given_on(app)) {
    throw bad_argument(option + " stands before the command " + command,
                       "write evolve " + command + " " + option + " …");
  }
}

int run(int argc, char** argv) {
  // Started by evolve itself for --trainer-exec: no option of it is ours.
  if (argc > 2 && std::string_view(argv[1]) == workers::exec_worker_command)
    return workers::exec_worker({argv + 2, argv + argc});
  CLI::App app{"Evolves the hyperparameters of object detectors over a pool of devices.", "evolve"};
  app.set_version_flag("--version", "evolve " EVOLVE_VERSION);
  app.require_subcommand(0, 1);
  // Of an option that stands twice the last one counts, as in YOLOv5.
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);

  Options options;
  declare(app, options);

  TrainArguments training;
  auto* train = app.add_subcommand("train", "Train once, with one hyp file");
  declare(*train, training);

  ValArguments validation;
  auto* val = app.add_subcommand("val", "Evaluate weights on a data set");
  declare(*val, validation);

  std::string csv, image;
  auto* plot = app.add_subcommand(
      "plot", "Draw evolve.png from an evolve.csv, or results.png from a results.csv");
  plot->add_option("EVOLVE_CSV", csv, "The results of a run or of a training")->required();
  plot->add_option("-o,--output", image, "Picture to write: .png or .svg; default: beside the CSV");

  std::string run_folder, explanation;
  auto* explain = app.add_subcommand("explain", "Which genes mattered in a run, with a picture");
  explain->add_option("RUN", run_folder, "The folder of a run, also of one that is going on")
      ->required();
  explain->add_option("-o,--output", explanation,
                      "Picture to write: .png or .svg; default: RUN/explain.png");

  std::vector<std::string> reported;
  std::string page;
  auto* report = app.add_subcommand(
      "report", "Show a run, or several beside each other, as a page for a browser");
  report->add_option("RUN", reported, "Folders of runs, also of such that are going on")
      ->required();
  report->add_option(
      "-o,--output", page,
      "Page to write: .html; default: RUN/report.html, of several runs report.html here");

  std::string exported, target;
  auto* exporting = app.add_subcommand(
      "export", "Write a run for other programs that show experiments, with their Python packages");
  exporting->add_option("TARGET", target, "tensorboard, mlflow, wandb or optuna")
      ->required()
      ->check(CLI::IsMember({"tensorboard", "mlflow", "wandb", "optuna"}));
  exporting->add_option("RUN", exported, "The folder of a run, also of one that is going on")
      ->required();

  bool json = false;
  auto* devices = app.add_subcommand("devices", "List the devices that can train");
  devices->add_flag("--json", json, "As JSON: an array of objects");

  std::string name, directory;
  auto* dataset = app.add_subcommand("dataset", "Write an embedded data set in YOLO format");
  dataset->add_option("NAME", name, "shapes")->required();
  dataset->add_option("DIR", directory, "Folder to write")->required();

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    throw bad_argument(error.what(), "see evolve --help");
  }
  refuse_lost_options(app);
  if (*train) {
    complete(*train, training);
    return train_command(training);
  }
  if (*val) {
    complete(*val, validation);
    return val_command(validation);
  }
  if (*plot) return plot_command(csv, image);
  if (*explain) return explain_command(run_folder, explanation);
  if (*exporting) return export_command(target, exported);
  if (*report) return report_command(reported, page);
  if (*devices) return devices_command(json);
  if (*dataset) return dataset_command(name, directory);
  complete(app, options);
  return evolve_command(options);
}

}  // namespace
}  // namespace evolve::cli

int main(int argc, char** argv) {
  // Before a run has begun nothing has to be saved.
  for (const int number : {SIGINT, SIGTERM}) {
    const auto leave = [](int signal) { std::_Exit(128 + signal); };
    if (std::signal(number, leave) == SIG_IGN) std::signal(number, SIG_IGN);
  }
  // A file at its size limit is an error of write(), like a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return evolve::cli::run(argc, argv);
  } catch (const evolve::Error& error) {
    fmt::print(stderr, "evolve: {}\n", error.what());
    return error.exit_code();
  } catch (const std::exception& error) {
    fmt::print(stderr, "evolve: {}\n", error.what());
    return 1;
  }
}

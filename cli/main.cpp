// The program `evolve`: reads the command line, runs one command, turns errors into exit codes.

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>

#include "cli/commands.hpp"
#include "cli/help.hpp"
#include "core/error.hpp"
#include "core/utf8.hpp"
#include "workers/exec/exec_worker.hpp"
#include "workers/protocol/text.hpp"

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

/// What a command had to print has been printed; its exit code.
int printed(int code) {
  if (code != 0 || (std::fflush(stdout) == 0 && !std::ferror(stdout))) return code;
  throw run_failed("standard output: cannot write all of it", "make room, or print it elsewhere");
}

/// A command of the program, and what it does with what it was given.
struct Command {
  CLI::App* app;
  std::function<int()> run;
  /// What it prints is its result. Else files are: then nobody has to read what it prints.
  bool prints = true;
};

template <class Arguments>
Command declared(CLI::App& app, const char* name, const char* summary, int (*run)(const Arguments&),
                 bool prints) {
  const auto given = std::make_shared<Arguments>();
  auto* command = app.add_subcommand(name, summary);
  declare(*command, *given);
  return {command,
          [=] {
            complete(*command, *given);
            return run(*given);
          },
          prints};
}

Command plot_in(CLI::App& app) {
  struct Given {
    std::string table, image;
  };
  const auto given = std::make_shared<Given>();
  auto* command = app.add_subcommand(
      "plot", "Draw evolve.png from an evolve.csv, or results.png from a results.csv");
  command
      ->add_option("EVOLVE_CSV", given->table,
                   "The results of a run or of a training, or its folder")
      ->required();
  command->add_option("-o,--output", given->image,
                      "Picture to write: .png or .svg; default: beside the CSV");
  return {command, [given] { return plot_command(given->table, given->image); }};
}

Command explain_in(CLI::App& app) {
  struct Given {
    std::string run, image;
  };
  const auto given = std::make_shared<Given>();
  auto* command = app.add_subcommand("explain", "Which genes mattered in a run, with a picture");
  command->add_option("RUN", given->run, "The folder of a run, also of one that is going on")
      ->required();
  command->add_option("-o,--output", given->image,
                      "Picture to write: .png or .svg; default: RUN/explain.png");
  return {command, [given] { return explain_command(given->run, given->image); }};
}

Command report_in(CLI::App& app) {
  struct Given {
    std::vector<std::string> runs;
    std::string page;
  };
  const auto given = std::make_shared<Given>();
  auto* command = app.add_subcommand(
      "report", "Show a run, or several beside each other, as a page for a browser");
  command->add_option("RUN", given->runs, "Folders of runs, also of such that are going on")
      ->required();
  command->add_option(
      "-o,--output", given->page,
      "Page to write: .html; default: RUN/report.html, of several runs report.html here");
  return {command, [given] { return report_command(given->runs, given->page); }};
}

Command export_in(CLI::App& app) {
  struct Given {
    std::string target, what, output;
  };
  const auto given = std::make_shared<Given>();
  auto* command = app.add_subcommand(
      "export", "Write a run, or trained weights, for other programs, with their Python packages");
  command
      ->add_option("TARGET", given->target,
                   "tensorboard, mlflow, wandb, optuna: a run; yolov5: weights")
      ->required()
      ->check(CLI::IsMember({"tensorboard", "mlflow", "wandb", "optuna", "yolov5"}));
  command
      ->add_option(
          "WHAT", given->what,
          "The folder of a run, also of one that is going on; of evolve train, or its weights")
      ->required();
  auto* output =
      command->add_option("-o,--output", given->output,
                          "yolov5: file to write; default: best_yolov5.pt beside best.pt");
  return {command, [given, output] {
            if (given->target == "yolov5")
              return export_weights_command(given->what, given->output);
            if (output->count() > 0)
              throw bad_argument("-o: a run is written where " + given->target + " looks for it",
                                 "leave it out");
            return export_command(given->target, given->what);
          }};
}

Command devices_in(CLI::App& app) {
  const auto json = std::make_shared<bool>(false);
  auto* command = app.add_subcommand("devices", "List the devices that can train");
  command->add_flag("--json", *json, "As JSON: an array of objects");
  return {command, [json] { return devices_command(*json); }};
}

Command dataset_in(CLI::App& app) {
  struct Given {
    std::string name, folder;
  };
  const auto given = std::make_shared<Given>();
  auto* command = app.add_subcommand("dataset", "Write an embedded data set in YOLO format");
  command->add_option("NAME", given->name, "shapes")->required();
  command->add_option("DIR", given->folder, "Folder to write")->required();
  return {command, [given] { return dataset_command(given->name, given->folder); }};
}

/// Options and paths go into JSON.
void refuse_other_encodings(std::span<char*> arguments) {
  for (const char* argument : arguments)
    if (core::valid_utf8(argument) != argument)
      throw bad_argument(workers::printable(argument) + ": this is not UTF-8",
                         "rename what it names");
}

int run(int argc, char** argv) {
  // Started by evolve itself for --trainer-exec: no option of it is ours.
  if (argc > 2 && std::string_view(argv[1]) == workers::exec_worker_command)
    return workers::exec_worker({argv + 2, argv + argc});
  refuse_other_encodings({argv + 1, argv + argc});
  CLI::App app{"Evolves the hyperparameters of object detectors over a pool of devices.", "evolve"};
  app.set_version_flag("--version", "evolve " EVOLVE_VERSION);
  app.require_subcommand(0, 1);
  app.formatter(help_format());
  // Of an option that stands twice the last one counts, as in YOLOv5.
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);

  Options options;
  declare(app, options);
  const Command commands[] = {
      declared(app, "train", "Train once, with one hyp file", train_command, /*prints=*/false),
      declared(app, "val", "Evaluate weights on a data set", val_command, /*prints=*/true),
      plot_in(app),
      explain_in(app),
      report_in(app),
      export_in(app),
      devices_in(app),
      dataset_in(app)};
  app.footer(
      "Examples:\n"
      "  evolve --data my.yaml --weights yolov5n.pt --epochs 10 --trials 100\n"
      "  evolve --resume\n"
      "  evolve train --data my.yaml --weights yolov5n.pt --hyp runs/evolve/exp/hyp_evolved.yaml");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return printed(app.exit(success));
  } catch (const CLI::ExtrasError&) {
    throw unknown_arguments(app);
  } catch (const CLI::ConversionError& error) {
    throw bad_conversion(app, error.what());
  } catch (const CLI::ParseError& error) {
    throw bad_argument(error.what(), see_help(app));
  }
  refuse_lost_options(app);
  for (const auto& command : commands)
    if (*command.app) return command.prints ? printed(command.run()) : command.run();
  complete(app, options);
  return options.dry_run ? printed(evolve_command(options)) : evolve_command(options);
}

/// That nobody can read it is no reason to end otherwise.
void say(const std::string& what) {
  std::fputs(("evolve: " + what + "\n").c_str(), stderr);
}

/// A file of a run must not get the number of a standard stream that is closed.
void open_standard_streams() {
  int descriptor = 0;
  do descriptor = ::open("/dev/null", O_RDWR);
  while (descriptor >= 0 && descriptor <= STDERR_FILENO);
  ::close(descriptor);
}

}  // namespace
}  // namespace evolve::cli

int main(int argc, char** argv) {
  evolve::cli::open_standard_streams();
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
    evolve::cli::say(error.what());
    return error.exit_code();
  } catch (const std::filesystem::filesystem_error& error) {
    evolve::cli::say(error.path1().string() + ": " + error.code().message() +
                     "; check the path and its permissions");
    return 2;
  } catch (const std::exception& error) {
    evolve::cli::say(error.what());
    return 1;
  }
}

// The commands, one source file each: it declares its command line, and runs it.
#pragma once

#include <functional>
#include <vector>

namespace CLI {
class App;
}

namespace evolve::cli {

/// A command as it is declared on a command line, and what it does with what it was given.
struct Command {
  /// What its options are on: a subcommand, or the program's own command line.
  CLI::App* app;
  /// To be called once the command line has been parsed. Returns the exit code; errors are thrown
  /// as `Error`.
  std::function<int()> run;
};

/// `evolve`: the main job, on the program's own command line.
Command evolve_command(CLI::App& app);
/// `evolve train`: one training.
Command train_command(CLI::App& app);
/// `evolve val`: weights on a data set.
Command val_command(CLI::App& app);
/// `evolve plot EVOLVE_CSV [-o FILE]`, or a results.csv, or the folder of either
Command plot_command(CLI::App& app);
/// `evolve explain RUN [-o FILE]`
Command explain_command(CLI::App& app);
/// `evolve report RUN... [-o FILE]`
Command report_command(CLI::App& app);
/// `evolve export TARGET RUN`, `evolve export yolov5 WEIGHTS [-o FILE]`
Command export_command(CLI::App& app);
/// `evolve devices [--json]`
Command devices_command(CLI::App& app);
/// `evolve dataset shapes DIR`
Command dataset_command(CLI::App& app);

/// All of these but `evolve` itself, as subcommands of `app`.
std::vector<Command> subcommands(CLI::App& app);

/// For a command whose result is what it prints: the exit code, now that all has been printed.
/// Throws `Error` when it could not be. Other commands write files, and nobody has to read what
/// they print.
int printed(int code);

}  // namespace evolve::cli

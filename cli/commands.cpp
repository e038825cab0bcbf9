#include "cli/commands.hpp"

#include <cstdio>

#include "core/error.hpp"

namespace evolve::cli {

std::vector<Command> subcommands(CLI::App& app) {
  return {train_command(app),  val_command(app),    plot_command(app),    explain_command(app),
          report_command(app), export_command(app), devices_command(app), dataset_command(app)};
}

int printed(int code) {
  if (code != 0 || (std::fflush(stdout) == 0 && !std::ferror(stdout))) return code;
  throw run_failed("standard output: cannot write all of it", "make room, or print it elsewhere");
}

}  // namespace evolve::cli

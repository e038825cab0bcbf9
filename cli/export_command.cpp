#include <unistd.h>

#include "cli/commands.hpp"
#include "cli/python.hpp"
#include "core/spawn.hpp"
#include "results/results.hpp"

namespace evolve::cli {

int export_command(const std::string& target, const std::string& run) {
  const auto directory = results::open_run(run);
  const auto python = python_of_environment();
  check_package(python, target, "evolve export " + target);
  const auto words =
      python_command(python, {"-m", "evolve.export", target, directory.root.string()});
  const auto child =
      core::spawn({.words = words, .output = STDOUT_FILENO, .errors = STDERR_FILENO});
  return core::wait_status(child) == 0 ? 0 : 1;
}

}  // namespace evolve::cli

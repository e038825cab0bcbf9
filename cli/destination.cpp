#include "cli/destination.hpp"

#include <CLI/CLI.hpp>

namespace evolve::cli {

void declare(CLI::App& app, Destination& d, const char* group) {
  app.add_option("--project", d.project, "Folder of runs")->group(group)->capture_default_str();
  app.add_option("--name", d.name, "Name of the run in it: exp, exp2, …")
      ->group(group)
      ->capture_default_str();
  app.add_flag("--exist-ok", d.exist_ok, "Use the folder even if it exists")->group(group);
  app.add_option("--output", d.output, "Exactly this folder")->group(group);
}

results::RunDirectory create(const Destination& d) {
  return d.output.empty() ? results::create_run(d.project, d.name, d.exist_ok)
                          : results::create_run_at(d.output);
}

}  // namespace evolve::cli

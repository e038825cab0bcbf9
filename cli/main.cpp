// The program `evolve`: reads the command line, runs one command, turns errors into exit codes.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>

#include "cli/commands.hpp"
#include "hyp/error.hpp"

namespace evolve::cli {
namespace {

int run(int argc, char** argv) {
  CLI::App app{"Evolves the hyperparameters of object detectors over a pool of devices.", "evolve"};
  app.set_version_flag("--version", "evolve " EVOLVE_VERSION);
  app.require_subcommand(0, 1);

  Options options;
  declare(app, options);

  std::string csv, image;
  auto* plot = app.add_subcommand("plot", "Draw evolve.png from an evolve.csv, or results.png from a results.csv");
  plot->add_option("EVOLVE_CSV", csv, "The results of a run or of a training")->required();
  plot->add_option("-o,--output", image, "Picture to write: .png or .svg; default: beside the CSV");

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
  if (*plot) return plot_command(csv, image);
  if (*dataset) return dataset_command(name, directory);
  complete(app, options);
  return evolve_command(options);
}

}  // namespace
}  // namespace evolve::cli

int main(int argc, char** argv) {
  std::signal(SIGXFSZ,
              SIG_IGN);  // a file at its size limit is an error of write(), like a full disk
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

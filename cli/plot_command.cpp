#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/options/destination.hpp"
#include "cli/recorded_run.hpp"
#include "core/csv.hpp"
#include "core/error.hpp"
#include "engine/run_files.hpp"
#include "hyp/hyp.hpp"
#include "results/plots/plots.hpp"
#include "results/results.hpp"

namespace evolve::cli {
namespace {

namespace fs = std::filesystem;

Error nothing_to_draw(const fs::path& csv) {
  return bad_input({csv.string()}, "no trial has completed", "draw it once one has");
}

/// The table in the folder of a run or of a training; else what was named.
fs::path table_at(const fs::path& named) {
  std::error_code ignored;
  if (!fs::is_directory(named, ignored)) return named;
  const results::RunDirectory folder{named};
  return holds_training(folder) ? folder.results_csv() : results::open_run(named).evolve_csv();
}

bool is_of_a_run(const fs::path& csv) {
  const results::RunDirectory folder{csv.parent_path()};
  return csv == folder.evolve_csv() && holds_run(folder);
}

/// The picture that the run itself draws.
void plot_own(const fs::path& csv, const fs::path& image) {
  const auto [contents, state] = recorded_run({csv.parent_path()});
  if (!state.best()) throw nothing_to_draw(csv);
  engine::plot_run(state, contents.run.fitness, image);
}

/// YOLOv5's evolve.csv has its fitness and its hyperparameters.
void plot_table(const fs::path& csv, const fs::path& image) {
  const auto table = results::read_table(csv);
  if (table.rows.empty()) throw nothing_to_draw(csv);
  results::plot_evolution(table, hyp::Fitness(), hyp::default_space(), image);
}

int plot(const std::string& named, const std::string& image) {
  const auto csv = table_at(named);
  const bool own = is_of_a_run(csv);
  const auto header = own ? std::vector<std::string>() : core::csv_header(csv);
  const bool is_training = results::is_training_header(header);
  if (!is_training && !header.empty() && header.front() == "epoch")
    throw bad_input({csv.string(), 1}, "these are not the columns of YOLOv5's results.csv",
                    "name one of YOLOv5 or of evolve train, or an evolve.csv");
  const results::RunDirectory beside{csv.parent_path()};
  const fs::path target = !image.empty() ? fs::path(image)
                          : is_training  ? beside.results_plot()
                                         : beside.plot();
  check_output(target);
  if (own) {
    plot_own(csv, target);
  } else if (is_training) {
    results::plot_training(results::read_epochs(csv), target);
  } else {
    plot_table(csv, target);
  }
  fmt::print("{}\n", target.string());
  return 0;
}

}  // namespace

Command plot_command(CLI::App& app) {
  struct Arguments {
    std::string table, image;
  };
  const auto given = std::make_shared<Arguments>();
  auto* command = app.add_subcommand(
      "plot", "Draw evolve.png from an evolve.csv, or results.png from a results.csv");
  command
      ->add_option("EVOLVE_CSV", given->table,
                   "The results of a run or of a training, or its folder")
      ->required();
  command->add_option("-o,--output", given->image,
                      "Picture to write: .png or .svg; default: beside the CSV");
  return {command, [given] { return printed(plot(given->table, given->image)); }};
}

}  // namespace evolve::cli

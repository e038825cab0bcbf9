#include <fmt/format.h>

#include <filesystem>

#include "cli/commands.hpp"
#include "core/csv.hpp"
#include "core/error.hpp"
#include "hyp/hyp.hpp"
#include "results/results.hpp"

namespace evolve::cli {
namespace {

namespace fs = std::filesystem;

void plot_run(const fs::path& csv, const fs::path& image) {
  const auto table = results::read_table(csv);
  if (table.rows.empty())
    throw bad_input({csv.string()}, "no trial has completed", "draw it once one has");
  // A run's own journal knows its fitness and its axes; YOLOv5's evolve.csv has YOLOv5's.
  hyp::Fitness fitness;
  hyp::Space space = hyp::default_space();
  const auto journal = results::RunDirectory{csv.parent_path()}.journal();
  std::error_code ignored;
  if (fs::exists(journal, ignored)) {
    const auto run = results::read_journal(journal).run;
    fitness = hyp::Fitness(run.fitness);
    space = run.space;
  }
  results::plot_evolution(table, fitness, space, image);
}

}  // namespace

int plot_command(const std::string& csv, const std::string& image) {
  const bool is_training = core::csv_header(csv) == results::epoch_columns();
  const auto target =
      image.empty() ? fs::path(csv).replace_filename(is_training ? "results.png" : "evolve.png")
                    : fs::path(image);
  if (is_training) {
    results::plot_training(results::read_epochs(csv), target);
  } else {
    plot_run(csv, target);
  }
  fmt::print("{}\n", target.string());
  return 0;
}

}  // namespace evolve::cli

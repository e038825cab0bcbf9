#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "cli/commands.hpp"
#include "cli/explanation.hpp"
#include "cli/options/destination.hpp"
#include "cli/recorded_run.hpp"
#include "cli/screen/savings.hpp"
#include "cli/screen/text.hpp"
#include "core/utf8.hpp"
#include "engine/explanation.hpp"
#include "results/plots/plots.hpp"
#include "results/results.hpp"

namespace evolve::cli {
namespace {

int explain(const std::string& run, const std::string& image) {
  const auto directory = results::open_run(run);
  const auto target = image.empty() ? directory.explanation() : std::filesystem::path(image);
  if (!image.empty()) check_output(target);
  const auto state = recorded_run(directory).state;
  const auto explanation = engine::explain(state, run);
  for (const auto& line : explanation_lines(explanation)) fmt::print("{}\n", core::one_line(line));
  if (const auto words = savings(state); !words.empty()) fmt::print("{}\n", words);
  // What nobody asked for by name costs only itself: another user's run is explained all the same.
  if (image.empty()) check_output(target);
  results::plot_explanation(explanation, target);
  fmt::print("{}\n", display_path(target));
  return 0;
}

}  // namespace

Command explain_command(CLI::App& app) {
  struct Arguments {
    std::string run, image;
  };
  const auto given = std::make_shared<Arguments>();
  auto* command = app.add_subcommand("explain", "Which genes mattered in a run, with a picture");
  command->add_option("RUN", given->run, "The folder of a run, which may still be going on")
      ->required();
  command->add_option("-o,--output", given->image,
                      "Picture to write: .png or .svg; default: RUN/explain.png");
  return {command, [given] { return printed(explain(given->run, given->image)); }};
}

}  // namespace evolve::cli

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/explanation.hpp"
#include "cli/screen.hpp"
#include "results/results.hpp"

namespace evolve::cli {

int explain_command(const std::string& run, const std::string& image) {
  const auto directory = results::open_run(run);
  // Only read: the run may be going on.
  const auto history = results::read_journal(directory.journal());
  if (!history.warning.empty()) fmt::print("{}\n", history.warning);
  const auto explanation = explain(
      results::from_first_line(directory.journal(),
                               [&] { return hyp::space_from_json(history.run.at("space")); }),
      history.events, run);
  for (const auto& line : description(explanation)) fmt::print("{}\n", line);
  const auto target = image.empty() ? directory.explanation() : std::filesystem::path(image);
  results::plot_explanation(explanation, target);
  fmt::print("{}\n", display_path(target));
  return 0;
}

}  // namespace evolve::cli

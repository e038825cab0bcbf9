#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/destination.hpp"
#include "cli/explanation.hpp"
#include "cli/recorded_run.hpp"
#include "cli/savings.hpp"
#include "cli/screen.hpp"
#include "engine/importance.hpp"
#include "results/results.hpp"

namespace evolve::cli {

int explain_command(const std::string& run, const std::string& image) {
  check_output(image);
  const auto directory = results::open_run(run);
  const auto state = recorded_run(directory).state;
  const auto explanation = engine::explain(state, run);
  for (const auto& line : description(explanation)) fmt::print("{}\n", line);
  if (const auto words = savings(state); !words.empty()) fmt::print("{}\n", words);
  const auto target = image.empty() ? directory.explanation() : std::filesystem::path(image);
  results::plot_explanation(explanation, target);
  fmt::print("{}\n", display_path(target));
  return 0;
}

}  // namespace evolve::cli

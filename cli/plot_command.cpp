#include <fmt/format.h>

#include <filesystem>

#include "cli/commands.hpp"
#include "results/plot.hpp"

namespace evolve::cli {

int plot_command(const std::string& csv, const std::string& image) {
  const auto target = image.empty() ? std::filesystem::path(csv).replace_filename("evolve.png")
                                    : std::filesystem::path(image);
  results::plot(csv, target);
  fmt::print("{}\n", target.string());
  return 0;
}

}  // namespace evolve::cli

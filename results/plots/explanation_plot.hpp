// The plot of which genes mattered.
#pragma once

#include <filesystem>
#include <string>

#include "results/explanation.hpp"

namespace evolve::results {

/// Draws bars for the importance of each gene and, for the most important ones, the expected
/// fitness along the gene with its band over the trials, that of highest fitness marked, as `image`
/// (.png or .svg). Throws `Error` for another file ending, and as `run_gnuplot` does.
void plot_explanation(const Explanation& explanation, const std::filesystem::path& image);

/// The gnuplot script of that plot, for a terminal "png" or "svg".
std::string explanation_script(const Explanation& explanation, const std::string& terminal);

}  // namespace evolve::results

// What is said of which genes mattered.
#pragma once

#include <string>
#include <vector>

#include "results/explanation.hpp"

namespace evolve::cli {

/// A table of it for the screen, at most 80 columns wide, and how far it can be trusted.
std::vector<std::string> explanation_lines(const results::Explanation& explanation);

}  // namespace evolve::cli

// What a run recommends, in words.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/run_state.hpp"

namespace evolve::cli {

/// Which trial to use, what to expect of it and of the start, how sure that is, and what a
/// difference between two trainings means. `run` is the run's folder, `go_on` the command that goes
/// on with it.
std::vector<std::string> recommendation_lines(const engine::RunState& state,
                                              const engine::Recommendation& recommendation,
                                              const std::filesystem::path& run,
                                              const std::string& go_on);

}  // namespace evolve::cli

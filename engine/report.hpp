// A run as its report shows it.
#pragma once

#include <string>

#include "engine/run_state.hpp"
#include "results/report.hpp"

namespace evolve::engine {

/// The report of a run with these settings, in this state, called `name`, to which that happened;
/// without its explanation. `going_on`: evolve is at work on it.
results::RunReport report_of(const RunState& state, const results::RunSettings& settings,
                             results::Timeline timeline, const std::string& name, bool going_on);

}  // namespace evolve::engine

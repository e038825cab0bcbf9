// Which genes mattered in a run, from its journal.
#pragma once

#include <string>
#include <vector>

#include "hyp/space.hpp"
#include "results/event.hpp"
#include "results/explain_plot.hpp"

namespace evolve::cli {

/// Fewer completed trials than this explain nothing.
inline constexpr int least_explained = 10;

/// Conditions the model of the screened search (ga/surrogate.hpp) on all that ended, whatever the
/// run's own search. `run` names the run in an `Error`, thrown when fewer than `least_explained`
/// trials completed or all of them have the same fitness.
results::Explanation explain(const hyp::Space& space, const std::vector<results::Event>& events,
                             const std::string& run);

/// A table of it for the screen, at most 80 columns wide, and how far it can be trusted.
std::vector<std::string> description(const results::Explanation& explanation);

}  // namespace evolve::cli

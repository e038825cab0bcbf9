// Which genes mattered in a run.
#pragma once

#include <optional>
#include <string>

#include "engine/run_state.hpp"
#include "results/explanation.hpp"

namespace evolve::engine {

/// Fewer completed trials than this explain nothing.
inline constexpr int least_explained = 5;

/// Conditions the model of the screened search (ga/model/surrogate.hpp) on the trials that were
/// trained to their end or failed, whatever the run's own search. `run` names the run in an
/// `Error`, thrown when fewer than `least_explained` trials completed or all of them have the same
/// fitness.
results::Explanation explain(const RunState& state, const std::string& run);

/// Whether that takes some three seconds at most: the time grows with the trials and with the
/// square of the genes that evolve. With 500 of these it takes half a minute.
bool is_explained_soon(const RunState& state);

/// What `explain` gives; nothing where it refuses: the trials do not tell which genes mattered.
std::optional<results::Explanation> explanation_if_any(const RunState& state);

}  // namespace evolve::engine

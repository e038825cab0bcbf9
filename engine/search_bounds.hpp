// How far the search of a run goes: what its settings ask for, less what its repeats take.
#pragma once

#include <optional>

#include "ga/evolution.hpp"
#include "results/run_settings.hpp"

namespace evolve::engine {

/// How the search of a run is set. The trials and epochs of the repeats are kept for them;
/// throws `Error` when none are left.
ga::Settings search_settings(const results::RunSettings& run);

/// How many trials are left for the search when the repeats are taken off; nothing: as many as the
/// generations have. Throws as above.
std::optional<int> search_trials(const ga::Settings& bounds, int repeats);
std::optional<int> search_epochs(const ga::Settings& bounds, int repeats);

/// Whether it is by its generations that a search has as many trials as it has, so many repeats
/// besides, and not by --trials.
bool ends_by_generations(const ga::Settings& search, int repeats);

}  // namespace evolve::engine

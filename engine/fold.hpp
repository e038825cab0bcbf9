// A journal's events folded into the state of its run.
#pragma once

#include <string>
#include <vector>

#include "engine/run_state.hpp"

namespace evolve::engine {

/// The latest trials that are bred again when a journal is folded, to see that this version still
/// breeds what is recorded. The ones before are taken from the journal: breeding 100,000 of them
/// would take an hour.
inline constexpr int bred_again = 20;

/// The state after all events of a journal at `path`, whose first line is `settings`. Throws
/// `Error` as `RunState::apply` does. The `latest` trials are bred again.
RunState fold(const results::RunSettings& settings, const std::vector<results::Event>& events,
              const std::string& path, int latest = bred_again);

}  // namespace evolve::engine

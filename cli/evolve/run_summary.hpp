// What is said at the end of a run of its failures and its repeats.
#pragma once

#include <string>
#include <vector>

#include "engine/run_state.hpp"
#include "results/run_directory.hpp"

namespace evolve::cli {

/// "3 of 50 trials failed, the first one with: …; see runs/evolve/exp/trials/000002/log"; "": none
/// did.
std::string failure_summary(const engine::RunState& state, const results::RunDirectory& directory);

/// "2 of 8 repeats failed, of trials 3, 7"; "": none did.
std::string failed_repeats(const engine::RunState& state);

/// "Trained again with other seeds: trial 37 0.2975 → 0.2810, …; on average 0.0120 less".
std::string repeat_summary(const std::vector<results::Repeat>& repeats);

}  // namespace evolve::cli

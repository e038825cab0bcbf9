// How far a run has come, and what is said at its end of its failures and its repeats.
#pragma once

#include <string>
#include <vector>

#include "engine/run_state.hpp"
#include "results/run_directory.hpp"

namespace evolve::cli {

/// "612 of 900 epochs" where these are what is counted, else "12 of 50 trials" or, once the search
/// is done, "50 of 50 trials and 2 of 8 repeats".
std::string share_done(const engine::RunState& state);

/// "3 of 50 trials failed, the first one with: …; see runs/evolve/exp/trials/000002/log"; "": none
/// did.
std::string failure_summary(const engine::RunState& state, const results::RunDirectory& directory);

/// "2 of 8 repeats failed, of trials 3, 7"; "": none did.
std::string failed_repeats(const engine::RunState& state);

/// "Trained again with other seeds: trial 37 0.2975 → 0.2810, …; on average 0.0120 less".
std::string repeat_summary(const std::vector<results::Repeat>& repeats);

}  // namespace evolve::cli

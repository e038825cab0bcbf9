// Where trainings are paused: after which epochs, and what is trained next.
#pragma once

#include <vector>

#include "ga/evolution_state.hpp"
#include "hyp/trial.hpp"

namespace evolve::ga {

bool pausing(const EvolutionState& state);
/// See Evolution::pause_epochs.
std::vector<int> pause_epochs(const EvolutionState& state);
/// A paused trial goes on, or the next one begins. Something fits (see has_room).
hyp::Trial begin_or_go_on(EvolutionState& state);

}  // namespace evolve::ga

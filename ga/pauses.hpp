// Where trainings are paused: after which epochs, and what is trained next.
#pragma once

#include <vector>

#include "ga/evolution_state.hpp"
#include "hyp/trial.hpp"

namespace evolve::ga {

bool pausing(const EvolutionState& state);
/// After which epochs a training that begins now may be paused: those of pauses_of() at which the
/// start had half of its final fitness or more, and a number at all (all of them where its final
/// one is not above 0, or the start failed). The last one only until the start has ended. None in a
/// run that pauses nothing.
std::vector<int> pause_epochs(const EvolutionState& state);
/// A paused trial goes on, or the next one begins. Something fits (see has_room).
hyp::Trial begin_or_go_on(EvolutionState& state);

}  // namespace evolve::ga

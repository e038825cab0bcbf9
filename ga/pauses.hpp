// Where trainings are paused: after which epochs, and what is trained next.
#pragma once

#include <vector>

#include "ga/evolution_state.hpp"
#include "hyp/trial.hpp"

namespace evolve::ga {

/// Whether trainings may be paused: see Evolution::pausing().
bool pausing(const EvolutionState& state);
/// The start has failed, or ended with a fitness of 0, and nothing that has ended has another one:
/// no look has shown yet whether it tells anything.
bool none_has_learnt(const EvolutionState& state);
/// After which epochs a training that begins now may be paused: those of pauses_of() at which the
/// start, or where it ended at 0 or failed the first other trial that learnt something, had half of
/// its final fitness or more, and a number at all (all of them where it ended below 0). The last
/// one only until the start has ended. None while none has learnt, and in a run that pauses
/// nothing.
std::vector<int> pause_epochs(const EvolutionState& state);
/// A paused trial goes on, or the next one begins. Something fits (see has_room).
hyp::Trial begin_or_go_on(EvolutionState& state);

}  // namespace evolve::ga

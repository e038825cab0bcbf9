// Trials are handed out, go on where they were paused, and end.
#pragma once

#include "ga/evolution_state.hpp"
#include "hyp/trial.hpp"

namespace evolve::ga {

/// Hands out `set` as the next new trial, which is paused after that epoch, if not 0.
hyp::Trial hand_out(EvolutionState& state, hyp::Genes set, int pause_epoch = 0);
/// Hands out what is left of a paused trial, to be paused again after that epoch, if not 0. Throws
/// `Error` when it is not known to be paused.
hyp::Trial go_on(EvolutionState& state, int trial, int pause_epoch);
/// The latest step of that trial is over; it has been trained for `reached` epochs in all.
void end_step(EvolutionState& state, int trial, int reached);

}  // namespace evolve::ga

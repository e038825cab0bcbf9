// The sets of the next trials, from what is known.
#pragma once

#include <vector>

#include "ga/evolution_state.hpp"
#include "ga/random/rng.hpp"

namespace evolve::ga {

/// Share of the run that is behind trial `number`, in [0, 1].
double progress(const EvolutionState& state, int number);

/// The sets of the next trials, where trainings are not paused: one, or `most` at the most that one
/// model proposes.
std::vector<hyp::Genes> next_sets(EvolutionState& state, int most);

/// The set of the next trial where trainings are paused: what the model proposes, or without one a
/// point of a design. One of the first sets as long as there are any.
hyp::Genes proposed_set(EvolutionState& state, Rng& rng);
hyp::Genes design_set(const EvolutionState& state, Rng& rng);

}  // namespace evolve::ga

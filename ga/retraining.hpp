// Sets that are trained again in place of new ones: the start, early, and at the end those that may
// be the best. Where trainings are luck in part, that says more than another set.
#pragma once

#include <optional>

#include "ga/evolution_state.hpp"

namespace evolve::ga {

/// How many trainings the search has begun: trials, or where trainings are paused as many whole
/// ones as their epochs make.
int begun(const EvolutionState& state);
/// The sets that were handed out with the seed of trial `number`, the next one or a later one: of
/// another such training it would be known what it gives.
Visited sets_with_seed_of(const EvolutionState& state, int number);
/// Where trainings are not paused: the set that trial `number`, the next one or a later one, trains
/// again, if by what is known now it does.
std::optional<hyp::Genes> set_to_train_again(EvolutionState& state, int number);
/// Where trainings may be paused, and none waits: the set that the next trial trains again in the
/// last epochs of a run.
std::optional<hyp::Genes> set_to_decide_on(EvolutionState& state);
/// Where trainings are paused: the next trial is to train the start again.
bool start_is_due_again(const EvolutionState& state);

}  // namespace evolve::ga

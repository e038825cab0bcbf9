// What breeding knows of how trials ended: without a lag all that was told, in the order of the
// tells. With lag N step k knows the steps up to k - N, in their order, and waits for them.
#pragma once

#include <set>
#include <vector>

#include "ga/evolution_state.hpp"

namespace evolve::ga {

/// Trials at most: those of all generations or fewer, and never fewer than there are.
int planned(const EvolutionState& state);
/// The last epoch that a step has, or had when it was not over.
int last_epoch(const EvolutionState& state, const Step& step);
/// Epochs that the budget leaves; a very large number without a budget. What a step takes beyond
/// what it was asked for counts at once, though with a lag nothing else depends on it before the
/// step is known: nobody else may spend it.
int epochs_left(const EvolutionState& state);
/// Whether another trial fits in the bounds.
bool new_trial_fits(const EvolutionState& state);

/// Whether all steps have been told of that the next one must know, and all repeats: with a lag a
/// search that goes on waits for those that began before.
bool outcomes_told(const EvolutionState& state);
bool repeats_told(const EvolutionState& state);
/// Whether something may be handed out once the next step knows what it may know.
bool has_room(const EvolutionState& state);

/// With a lag: what the next step may know of the steps, and of the repeats, is known.
void learn_outcomes(EvolutionState& state);
void learn_repeats(EvolutionState& state);
/// From now on this step, which is over, is known.
void learn(EvolutionState& state, const Step& step);

/// With a lag: all that was told of trials, and of the first `first_repeats` repeats, in order.
History history_of_all(EvolutionState& state, int first_repeats);
/// The sets of these trials, of those that have completed, each by the trial that `history` knows
/// it by: standing() is told so which ones are being trained.
std::vector<int> as_known(const EvolutionState& state, const History& history,
                          const std::set<int>& trials);
/// standing() of the known outcomes, which are judged once though many trials may be asked for
/// before there is another one.
std::optional<Standing> standing_now(EvolutionState& state, std::span<const int> pending = {});
/// The mating pool of all that was told.
MatingPool pool_of_all(const EvolutionState& state);

}  // namespace evolve::ga

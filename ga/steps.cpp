#include "ga/steps.hpp"

#include <string>
#include <utility>

#include "core/error.hpp"
#include "ga/epochs/freeze_thaw.hpp"
#include "ga/knowledge.hpp"
#include "ga/pauses.hpp"
#include "ga/random/rng.hpp"

namespace evolve::ga {
namespace {

/// The start's rungs, or those of the first trial that learns something, say which ones are of use:
/// these have all of them.
std::vector<int> rungs_between(const EvolutionState& state, int number, int begin, int end) {
  if (!pausing(state)) return {};
  const bool all = number == 0 || none_has_learnt(state);
  auto rungs = all ? pauses_of(state.settings.epochs) : pause_epochs(state);
  std::erase_if(rungs, [&](int epoch) { return epoch <= begin || epoch >= end; });
  if (end < state.settings.epochs) rungs.push_back(end);
  return rungs;
}

hyp::Trial begin_step(EvolutionState& state, int number, int begin, int pause_epoch) {
  Record& record = state.trials[static_cast<std::size_t>(number)];
  record.step = static_cast<int>(state.steps.size());
  const int end = pause_epoch > 0 ? pause_epoch : state.settings.epochs;
  auto rungs = rungs_between(state, number, begin, end);
  state.steps.push_back({.trial = number, .begin = begin, .end = end, .rungs = rungs});
  ++state.steps_under_way;
  state.known.epochs += end - begin;
  state.known.pending.insert(number);
  return {.number = number,
          .generation = number / state.settings.population,
          .hyp = hyp::express(state.space, record.genes),
          .seed = training_seed(state.settings.seed, seed_number(number, 0)),
          .start_epoch = begin,
          .pause_epoch = pause_epoch,
          .rungs = std::move(rungs)};
}

}  // namespace

hyp::Trial hand_out(EvolutionState& state, hyp::Genes set, int pause_epoch) {
  state.visited.insert(set);
  state.trials.push_back({std::move(set)});
  return begin_step(state, state.asked() - 1, 0, pause_epoch);
}

hyp::Trial go_on(EvolutionState& state, int trial, int pause_epoch) {
  Knowledge& known = state.known;
  auto& from = known.given_up.contains(trial) ? known.given_up : known.paused;
  const auto found = from.find(trial);
  if (found == from.end()) {
    throw bad_argument("trial " + std::to_string(trial) + " goes on, but is not paused",
                       "go on with trials that are paused");
  }
  const int begin = found->second;
  from.erase(found);
  return begin_step(state, trial, begin, pause_epoch);
}

void end_step(EvolutionState& state, int trial, int reached) {
  Step& step = state.step_of(trial);
  step.reached = reached;
  --state.steps_under_way;
  if (!state.settings.lag) learn(state, step);
}

}  // namespace evolve::ga

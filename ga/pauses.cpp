#include "ga/pauses.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "ga/breeding.hpp"
#include "ga/epochs/freeze_thaw.hpp"
#include "ga/knowledge.hpp"
#include "ga/random/rng.hpp"
#include "ga/retraining.hpp"
#include "ga/screened/screened.hpp"
#include "ga/steps.hpp"

namespace evolve::ga {
namespace {

// Before there is a model of curves, only the start of these first trials is trained to its end.
constexpr int curve_design = 9;

// A rung tells sets from each other once they have learnt something: before the start has this
// share of what it ends with, a rung shows which came out of the warm-up first, and luck.
constexpr double least_learnt = 0.5;

// Nothing has been trained to its end, and nothing is on its way there.
bool none_is_whole(const EvolutionState& state) {
  return state.known.history.completed() == 0 &&
         std::ranges::none_of(state.known.pending, [&](int trial) {
           return state.step_of(trial).end == state.settings.epochs;
         });
}

bool has_ended(const EvolutionState& state, int trial) {
  return trial < state.asked() && state.trial(trial).observation &&
         !state.known.pending.contains(trial);
}

// Whether the trial was to tell its fitness after this epoch: another attempt may have had other
// rungs.
bool had_rung(const EvolutionState& state, int trial, int epoch) {
  const auto latest = static_cast<std::size_t>(state.trial(trial).step);
  return std::ranges::any_of(std::span(state.steps).first(latest + 1), [&](const Step& step) {
    return step.trial == trial && std::ranges::count(step.rungs, epoch) > 0;
  });
}

// The start is trained to its end, or where it fails another: it tells what a rung is
// worth, and is what every claim compares with.
hyp::Trial without_model(EvolutionState& state, Rng& rng) {
  if (new_trial_fits(state)) {
    const auto rungs = pause_epochs(state);
    const int pause_epoch = none_is_whole(state) || rungs.empty() ? 0 : rungs.front();
    return hand_out(state, design_set(state, rng), pause_epoch);
  }
  const auto best = std::ranges::max_element(state.known.paused, {}, [&](const auto& one) {
    const auto& [trial, epoch] = one;
    return std::tuple(epoch, state.trial(trial).rungs.at(epoch), -trial);
  });
  return go_on(state, best->first, 0);
}

}  // namespace

bool pausing(const EvolutionState& state) {
  return state.settings.pauses && !state.counts_sets && state.screened() &&
         !pauses_of(state.settings.epochs).empty();
}

bool none_has_learnt(const EvolutionState& state) {
  return has_ended(state, 0) && !state.known.first_learnt;
}

std::vector<int> pause_epochs(const EvolutionState& state) {
  if (!pausing(state)) return {};
  auto rungs = pauses_of(state.settings.epochs);
  if (!has_ended(state, 0)) return {rungs.back()};
  if (none_has_learnt(state)) return {};
  // The start, or where that learnt nothing or failed the first that did.
  const int telling = *state.known.first_learnt;
  const Record& trained = state.trial(telling);
  // A share of a fitness below 0 means nothing.
  if (trained.observation->fitness < 0) return rungs;
  std::erase_if(rungs, [&](int epoch) {
    // The start has no rungs where the run paused nothing then: all are believed.
    if (!had_rung(state, telling, epoch)) return telling > 0;
    const auto at_rung = trained.rungs.find(epoch);
    return at_rung == trained.rungs.end() ||
           at_rung->second < least_learnt * trained.observation->fitness;
  });
  return rungs;
}

hyp::Trial begin_or_go_on(EvolutionState& state) {
  const auto rungs = pause_epochs(state);
  Rng rng = breeding_rng(state.settings.seed, static_cast<int>(state.steps.size()));
  if (state.known.history.completed() == 0 ||
      state.asked() < (rungs.empty() ? design_size : curve_design))
    return without_model(state, rng);
  if (start_is_due_again(state)) {
    state.start_again.push_back(state.asked());
    return hand_out(state, state.start());
  }
  // Where no rung tells anything every set is trained whole.
  if (rungs.empty() && new_trial_fits(state)) {
    if (auto set = set_to_decide_on(state)) return hand_out(state, *std::move(set));
  }
  std::optional<hyp::Genes> child;
  const bool all_alike = state.earlier.count() == 0 && !state.known.history.tells_sets_apart();
  if (new_trial_fits(state)) child = all_alike ? design_set(state, rng) : proposed_set(state, rng);
  std::vector<Thawable> waiting;
  for (const auto& [trial, epoch] : state.known.paused)
    waiting.push_back({trial, state.trial(trial).genes, epoch});
  const auto next = next_training(state.genes, state.known.history, child, waiting, rungs,
                                  state.settings.epochs, epochs_left(state));
  return next.trial ? go_on(state, *next.trial, next.pause_epoch)
                    : hand_out(state, *std::move(child), next.pause_epoch);
}

}  // namespace evolve::ga

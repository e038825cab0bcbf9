#include "ga/repeats.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "ga/knowledge.hpp"
#include "ga/random/rng.hpp"

namespace evolve::ga {
namespace {

// Of each set the first one: another trial of it would be repeated with the very same seed.
std::map<int, double> completed_trials(const EvolutionState& state) {
  std::map<int, double> fitness;
  std::set<hyp::Genes> sets;
  for (int trial = 0; trial < state.asked(); ++trial) {
    const Record& record = state.trial(trial);
    const auto& end = record.observation;
    if (end && end->ending == Observation::Ending::completed && sets.insert(record.genes).second)
      fitness[trial] = end->fitness;
  }
  return fitness;
}

bool have_one_set(const EvolutionState& state, int one, int other) {
  return state.trial(one).genes == state.trial(other).genes;
}

// Repeats of a set that has begun, whichever of its trials they are of.
int times_repeated(const EvolutionState& state, int trial) {
  return static_cast<int>(std::ranges::count_if(
      state.repeats, [&](const Repeat& one) { return have_one_set(state, one.trial, trial); }));
}

std::optional<int> choose(const EvolutionState& state, const std::optional<Standing>& now,
                          const std::set<int>& under_way) {
  const auto completed = completed_trials(state);
  // The first trial of a set may have completed after another one of it had been repeated.
  const auto first_of_set = [&](int trial) {
    const auto first = std::ranges::find_if(
        completed, [&](const auto& one) { return have_one_set(state, one.first, trial); });
    return first == completed.end() ? trial : first->first;
  };
  std::vector<Repeat> begun = state.repeats;
  for (Repeat& repeat : begun) repeat.trial = first_of_set(repeat.trial);
  std::set<int> repeating;
  for (const int trial : under_way) repeating.insert(first_of_set(trial));
  return trial_to_repeat(now, completed, begun, repeating);
}

// Repeat r knows the first r - N, and takes the later ones to be under way. Where that leaves none
// to choose, it knows one more.
std::optional<int> choose_with_lag(EvolutionState& state) {
  const std::span repeats(state.repeats);
  const auto ended =
      static_cast<int>(std::ranges::find_if_not(repeats, &Repeat::is_over) - repeats.begin());
  const int must = static_cast<int>(repeats.size()) + 1 - *state.settings.lag;
  for (int known = std::max(must, state.known.repeats); known <= ended; ++known) {
    std::set<int> under_way;
    for (const Repeat& later : repeats.subspan(static_cast<std::size_t>(known)))
      under_way.insert(later.trial);
    std::optional<Standing> now;
    if (state.screened()) {
      History history = history_of_all(state, known);
      now = standing(state.genes, history, state.start(), as_known(state, history, under_way));
    }
    if (const auto trial = choose(state, now, under_way)) return trial;
  }
  return std::nullopt;
}

hyp::Trial repeat_of(const EvolutionState& state, int trial, int number) {
  return {.number = trial,
          .hyp = hyp::express(state.space, state.trial(trial).genes),
          .seed = training_seed(state.settings.seed, seed_number(trial, number)),
          .repeat = number};
}

}  // namespace

std::optional<int> trial_to_repeat(const std::optional<Standing>& standing,
                                   const std::map<int, double>& completed,
                                   std::span<const Repeat> begun, const std::set<int>& under_way) {
  if (standing && standing->doubt > doubtful) return standing->undecided;
  std::optional<int> chosen;
  std::pair<std::ptrdiff_t, double> greatest;
  for (const auto& [trial, fitness] : completed) {
    if (under_way.contains(trial)) continue;
    const std::pair rank(-std::ranges::count(begun, trial, &Repeat::trial), fitness);
    if (chosen && rank <= greatest) continue;
    chosen = trial;
    greatest = rank;
  }
  return chosen;
}

std::optional<hyp::Trial> next_repeat(EvolutionState& state) {
  std::set<int> under_way;
  for (const Repeat& repeat : state.repeats)
    if (!repeat.is_over()) under_way.insert(repeat.trial);
  const auto without_lag = [&] {
    const auto repeating = as_known(state, state.known.history, under_way);
    return choose(state, state.screened() ? standing_now(state, repeating) : std::nullopt,
                  under_way);
  };
  const auto trial = state.settings.lag ? choose_with_lag(state) : without_lag();
  if (!trial) return std::nullopt;
  return repeat_of(state, *trial, times_repeated(state, *trial) + 1);
}

hyp::Trial begin_repeat(EvolutionState& state, int trial, int number) {
  if (trial < 0 || trial >= state.asked() || !state.trial(trial).observation) {
    throw bad_argument("trial " + std::to_string(trial) + " is trained again, but has not ended",
                       "repeat trials that have completed");
  }
  if (number < 1) throw bad_argument("repeat " + std::to_string(number), "count them from 1");
  state.repeats.push_back({.trial = trial, .number = number});
  return repeat_of(state, trial, number);
}

void end_repeat(EvolutionState& state, const hyp::Outcome& outcome) {
  const auto repeat = std::ranges::find_if(state.repeats, [&](const Repeat& one) {
    return one.trial == outcome.trial && one.number == outcome.repeat && !one.is_over();
  });
  if (repeat == state.repeats.end()) {
    throw bad_argument("repeat " + std::to_string(outcome.repeat) + " of trial " +
                           std::to_string(outcome.trial) + " ended, but is not under way",
                       "tell of the end of a repeat that has begun, once");
  }
  repeat->observation = observation_of(outcome);
  if (!state.settings.lag && state.screened())
    state.known.history.add(state.trial(outcome.trial).genes, *repeat->observation);
}

}  // namespace evolve::ga

#include "ga/knowledge.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <ranges>

#include "ga/pauses.hpp"

namespace evolve::ga {
namespace {

using Ending = Observation::Ending;

// Paused trials that may go on. Each takes space on a disk.
constexpr int most_waiting = 40;

bool new_trial_fits(const EvolutionState& state, int epochs_left) {
  return state.asked() < planned(state) &&
         (!state.settings.max_epochs || epochs_left >= state.settings.epochs);
}

// A trial that is paused there can be trained to its end.
bool rest_fits(const EvolutionState& state, int paused_at, int epochs_left) {
  return pausing(state) && state.settings.epochs - paused_at <= epochs_left;
}

bool something_fits(const EvolutionState& state, int epochs_left) {
  return new_trial_fits(state, epochs_left) ||
         std::ranges::any_of(std::views::values(state.known.paused), [&](int paused_at) {
           return rest_fits(state, paused_at, epochs_left);
         });
}

// With a lag: the next step must know the steps below this number.
int must_know(const EvolutionState& state) {
  return static_cast<int>(std::ssize(state.steps)) - *state.settings.lag + 1;
}

// With a lag: those that are over before the first that is not.
std::span<const Step> next_to_learn(const EvolutionState& state) {
  const auto unknown = std::span(state.steps).subspan(static_cast<std::size_t>(state.known.steps));
  const auto over = std::ranges::find_if_not(unknown, &Step::is_over);
  return unknown.first(static_cast<std::size_t>(over - unknown.begin()));
}

void add(const EvolutionState& state, int trial, MatingPool& to) {
  const Record& record = state.trial(trial);
  if (record.observation && record.observation->ending == Ending::completed)
    to.add({trial, record.genes, record.observation->fitness});
}

void add(const EvolutionState& state, const Step& step, History& to) {
  const Record& record = state.trial(step.trial);
  const auto rungs = pause_epochs(state);
  for (const auto& [epoch, fitness] : record.rungs) {
    if (epoch > step.reached || !std::ranges::count(step.rungs, epoch) ||
        !std::ranges::count(rungs, epoch))
      continue;
    to.add(record.genes, {.ending = Ending::at_rung,
                          .fitness = fitness,
                          .trial = step.trial,
                          .left = left_at(epoch, state.settings.epochs)});
  }
  if (record.observation) to.add(record.genes, *record.observation);
}

// Of too many paused trials the one with the least at the first rung, among those that are still
// there, does not go on: it has the least to hope for. Where the model knows that rungs speak
// against the ends, that is the one with the most.
void give_up_one(EvolutionState& state) {
  auto& paused = state.known.paused;
  const int first = std::ranges::min(std::views::values(paused));
  const double loading =
      state.known.history.curve_parameters().loading(left_at(first, state.settings.epochs));
  const double sign = loading < 0 ? -1 : 1;
  const auto worst = std::ranges::min_element(paused, {}, [&](const auto& one) {
    return one.second == first ? sign * state.trial(one.first).rungs.at(first)
                               : std::numeric_limits<double>::infinity();
  });
  state.known.given_up.insert(paused.extract(worst));
}

}  // namespace

int planned(const EvolutionState& state) {
  return static_cast<int>(
      std::max<std::int64_t>(most_trials(state.settings), std::ssize(state.trials)));
}

int last_epoch(const EvolutionState& state, const Step& step) {
  return step.goes_on ? state.settings.epochs : step.end;
}

int epochs_left(const EvolutionState& state) {
  int left = state.settings.max_epochs.value_or(std::numeric_limits<int>::max());
  left -= state.known.epochs;
  for (const int trial : state.known.pending) {
    const Step& step = state.step_of(trial);
    left -= last_epoch(state, step) - step.end + step.lost;
  }
  return left;
}

bool new_trial_fits(const EvolutionState& state) {
  return new_trial_fits(state, epochs_left(state));
}

bool outcomes_told(const EvolutionState& state) {
  return !state.settings.lag ||
         state.known.steps + std::ssize(next_to_learn(state)) >= must_know(state);
}

bool repeats_told(const EvolutionState& state) {
  return !state.settings.lag || std::ranges::all_of(state.repeats, &Repeat::is_over);
}

// With a lag, where what is known leaves no room for anything, the next outcomes may: they are
// learnt one by one, so that what follows still depends on nothing but outcomes.
bool has_room(const EvolutionState& state) {
  int left = epochs_left(state);
  if (something_fits(state, left)) return true;
  if (!state.settings.lag) return false;
  int furthest = 0;  // where one of these is paused
  return std::ranges::any_of(next_to_learn(state), [&](const Step& step) {
    left += last_epoch(state, step) - *step.reached;
    if (!state.trial(step.trial).observation) furthest = std::max(furthest, *step.reached);
    return something_fits(state, left) || (furthest > 0 && rest_fits(state, furthest, left));
  });
}

void learn(EvolutionState& state, const Step& step) {
  Knowledge& known = state.known;
  const auto& end = state.trial(step.trial).observation;
  known.pending.erase(step.trial);
  if (end && end->ending == Ending::completed && end->fitness != 0)
    known.first_learnt = std::min(step.trial, known.first_learnt.value_or(step.trial));
  add(state, step.trial, known.pool);
  if (state.screened()) add(state, step, known.history);
  if (!end) known.paused[step.trial] = *step.reached;
  if (std::ssize(known.paused) > most_waiting) give_up_one(state);
  known.epochs += *step.reached - step.end + step.lost;
}

void learn_outcomes(EvolutionState& state) {
  if (!state.settings.lag) return;
  for (auto over = next_to_learn(state).size(); over > 0; --over) {
    const bool must = state.known.steps < must_know(state);
    const bool may = !something_fits(state, epochs_left(state));
    if (!must && !may) return;
    learn(state, state.steps[static_cast<std::size_t>(state.known.steps++)]);
  }
}

void learn_repeats(EvolutionState& state) {
  if (!state.settings.lag) return;
  for (int& number = state.known.repeats; number < std::ssize(state.repeats); ++number) {
    const Repeat& repeat = state.repeats[static_cast<std::size_t>(number)];
    if (!repeat.is_over()) return;
    if (state.screened())
      state.known.history.add(state.trial(repeat.trial).genes, *repeat.observation);
  }
}

History history_of_all(EvolutionState& state, int first_repeats) {
  state.known.history.plausible();  // every copy would look for the same
  History all = state.known.history;
  const auto steps = std::span(state.steps).subspan(static_cast<std::size_t>(state.known.steps));
  for (const Step& step : steps)
    if (step.is_over()) add(state, step, all);
  for (int number = state.known.repeats; number < first_repeats; ++number) {
    const Repeat& repeat = state.repeats[static_cast<std::size_t>(number)];
    if (repeat.is_over()) all.add(state.trial(repeat.trial).genes, *repeat.observation);
  }
  return all;
}

std::vector<int> as_known(const EvolutionState& state, const History& history,
                          const std::set<int>& trials) {
  std::vector<int> known;
  for (const int trial : trials) {
    if (const auto* first = history.first_completed(state.trial(trial).genes))
      known.push_back(first->trial);
  }
  return known;
}

std::optional<Standing> standing_now(EvolutionState& state, std::span<const int> pending) {
  Knowledge& known = state.known;
  if (known.judged_outcomes != known.history.size()) {
    known.judged = judgement(state.genes, known.history, state.start());
    known.judged_outcomes = known.history.size();
  }
  return known.judged ? std::optional(standing(*known.judged, pending)) : std::nullopt;
}

MatingPool pool_of_all(const EvolutionState& state) {
  MatingPool all = state.known.pool;
  for (auto step = state.steps.begin() + state.known.steps; step != state.steps.end(); ++step)
    add(state, step->trial, all);
  return all;
}

}  // namespace evolve::ga

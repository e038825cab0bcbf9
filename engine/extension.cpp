#include "engine/extension.hpp"

#include <algorithm>
#include <limits>

#include "engine/settings.hpp"

namespace evolve::engine {
namespace {

/// Whether these generations let a finished search go on: more than it had, or as many as its
/// `trials` are, the last one not full.
bool are_more(const RunState& state, const Bounds& given) {
  const auto& search = state.evolution().settings();
  if (std::int64_t{*given.generations} * search.population <= state.trainings()) return false;
  if (*given.generations != search.generations) return *given.generations > search.generations;
  return !given.trials && search.trials &&
         search.generations == ga::generations_of(*search.trials, search.population);
}

/// Epochs that the search has taken.
std::int64_t search_spent(const ga::Evolution& search) {
  return search.settings().max_epochs.value_or(std::numeric_limits<int>::max()) -
         search.epochs_left();
}

/// How many whole trainings these bounds, which count repeats, let begin yet.
std::int64_t trainings_left(const RunState& state, const ga::Settings& bounds) {
  const auto left = ga::most_trials(bounds) - state.trainings();
  if (!bounds.max_epochs) return left;
  return std::min(left, (*bounds.max_epochs - epochs_with(state, 0)) / bounds.epochs);
}

}  // namespace

std::optional<results::Extended> extension(const RunState& state, const Bounds& given) {
  const auto& search = state.evolution();
  const auto& before = search.settings();
  const int wanted = state.repeats().wanted();
  const int earlier = state.repeats().begun_in_all();
  const bool searching = !search.done();
  auto after = before;
  // As they were given: the search has what repeats leave.
  const int kept = state.repeats().in_all();
  if (after.trials) *after.trials += kept;
  if (after.max_epochs) *after.max_epochs += kept * before.epochs;
  const bool trials = given.trials && (searching || *given.trials > state.trainings());
  const bool generations = given.generations && (searching || are_more(state, given));
  if (trials) {
    after.trials = given.trials;
    if (!generations)
      after.generations =
          std::max(before.generations, ga::generations_of(*given.trials, before.population));
  }
  if (generations) {
    after.generations = *given.generations;
    if (!trials) after.trials.reset();
  }
  const int asked = given.repeats.value_or(wanted);
  // Of the search that goes on the best are trained again.
  const bool epochs =
      given.max_epochs && (searching || *given.max_epochs >= epochs_with(state, asked + 1));
  if (epochs) after.max_epochs = given.max_epochs;
  int repeats = asked;
  bool longer = trials || generations;
  if (!searching && (longer || epochs)) {
    // Where nothing new could begin, the search does not go on.
    const int besides = given.repeats ? asked : 0;
    const auto left = trainings_left(state, after);
    longer = left > besides;
    // Repeats that nobody asked for anew leave it one training of those to come.
    if (!given.repeats) repeats = static_cast<int>(std::clamp<std::int64_t>(left - 1, 0, asked));
  }
  const bool go_on = searching || longer;
  if (go_on) after.trials = search_trials(after, repeats + earlier);
  if (go_on || (epochs && !state.paused().empty())) {
    after.max_epochs = search_epochs(after, repeats + earlier);
  } else {
    after.max_epochs = before.max_epochs;
    repeats = asked;
  }
  if (!go_on) {
    after.trials = before.trials;
    after.generations = before.generations;
  }
  if (after.generations == before.generations && after.trials == before.trials &&
      after.max_epochs == before.max_epochs && repeats == wanted)
    return {};
  return results::Extended{after.generations, after.trials, repeats, after.max_epochs};
}

std::int64_t epochs_with(const RunState& state, std::int64_t trainings) {
  // A repeat that failed has taken fewer epochs than are kept for it.
  return search_spent(state.evolution()) +
         (trainings + state.repeats().begun_in_all()) * state.evolution().settings().epochs;
}

Bounds bounds_of(const RunState& state, bool trials_given) {
  const auto& search = state.evolution().settings();
  const auto& repeats = state.repeats();
  Bounds bounds{.generations = search.generations, .repeats = repeats.wanted()};
  const int repeated = repeats.in_all();
  if (search.trials && (trials_given || repeated == 0 || !ends_by_generations(search, repeated)))
    bounds.trials = *search.trials + repeated;
  if (const auto most = state.most_epochs()) bounds.max_epochs = static_cast<int>(*most);
  return bounds;
}

}  // namespace evolve::engine

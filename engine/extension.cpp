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

}  // namespace

std::optional<results::Extended> extension(const RunState& state, const Bounds& given) {
  const auto& before = state.evolution().settings();
  const int wanted = state.repeats().wanted();
  const int earlier = state.repeats().begun_in_all();
  const bool searching = !state.evolution().done();
  auto after = before;
  // As they were given: the search has what repeats leave.
  const int kept = state.repeats().in_all();
  if (searching && after.trials) *after.trials += kept;
  if (searching && after.max_epochs) *after.max_epochs += kept * before.epochs;
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
  int repeats = asked;
  // More trials are a longer search: repeats that nobody asked for anew leave it one of them.
  if ((trials || generations) && !searching && !given.repeats) {
    const auto more = ga::most_trials(after) - state.trainings();
    repeats = static_cast<int>(std::min<std::int64_t>(repeats, more - 1));
  }
  // Of the search that goes on the best are trained again.
  const bool epochs =
      given.max_epochs && (searching || *given.max_epochs >= epochs_with(state, repeats + 1));
  if (epochs) after.max_epochs = given.max_epochs;
  if (trials || generations || searching) after.trials = search_trials(after, repeats + earlier);
  if (epochs || searching) after.max_epochs = search_epochs(after, repeats + earlier);
  // Where nothing new could begin, the search does not go on.
  if (!searching && state.paused().empty() && ga::most_trials(after) <= state.evolution().asked()) {
    after = before;
    repeats = asked;
  }
  if (after.generations == before.generations && after.trials == before.trials &&
      after.max_epochs == before.max_epochs && repeats == wanted)
    return {};
  return results::Extended{after.generations, after.trials, repeats, after.max_epochs};
}

std::int64_t epochs_with(const RunState& state, std::int64_t trainings) {
  const auto& search = state.evolution();
  const int most = search.settings().max_epochs.value_or(std::numeric_limits<int>::max());
  // A repeat that failed has taken fewer epochs than are kept for it.
  return most - search.epochs_left() +
         (trainings + state.repeats().begun_in_all()) * search.settings().epochs;
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

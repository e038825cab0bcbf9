#include "engine/extension.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/error.hpp"
#include "core/json.hpp"
#include "core/number.hpp"
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

/// The bounds of a whole run, repeats included, and which of those that were given count.
struct WholeBounds {
  ga::Settings bounds;
  /// Trials or generations.
  bool trials = false;
  bool epochs = false;
};

WholeBounds bounds_with(const RunState& state, const Bounds& given) {
  const auto& before = state.evolution().settings();
  const bool searching = !state.evolution().done();
  auto bounds = before;
  const int kept = state.repeats().in_all();
  if (bounds.trials) *bounds.trials += kept;
  if (bounds.max_epochs) *bounds.max_epochs += kept * before.epochs;
  const bool trials = given.trials && (searching || *given.trials > state.trainings());
  const bool generations = given.generations && (searching || are_more(state, given));
  if (trials) {
    bounds.trials = given.trials;
    if (!generations)
      bounds.generations =
          ga::generations_for(*given.trials, before.population, before.generations);
  }
  if (generations) {
    bounds.generations = *given.generations;
    if (!trials) bounds.trials.reset();
  }
  // Of the search that goes on the best are trained again.
  const int repeats = given.repeats.value_or(state.repeats().wanted());
  const bool epochs =
      given.max_epochs && (searching || *given.max_epochs >= epochs_with(state, repeats + 1));
  if (epochs) bounds.max_epochs = given.max_epochs;
  return {bounds, trials || generations, epochs};
}

}  // namespace

std::optional<results::Extended> extension(const RunState& state, const Bounds& given) {
  const auto& before = state.evolution().settings();
  const bool searching = !state.evolution().done();
  const auto [bounds, trials, epochs] = bounds_with(state, given);
  const int asked = given.repeats.value_or(state.repeats().wanted());
  // Where nothing new could begin, a search that was done does not go on.
  const auto left = trainings_left(state, bounds);
  const bool more_trials = searching || ((trials || epochs) && left > (given.repeats ? asked : 0));
  if (trials && left > 0 && !more_trials)
    throw bad_argument(fmt::format("--repeats {}: with {} to come none is left for a new trial",
                                   asked, core::counted(left, "training")),
                       "repeat fewer, or let there be more");
  const bool more_epochs = more_trials || (epochs && !state.paused().empty());
  int repeats = asked;
  // Repeats that nobody asked for anew leave it one training of those to come.
  if (more_epochs && !searching && !given.repeats)
    repeats = static_cast<int>(std::clamp<std::int64_t>(left - 1, 0, asked));
  const int all_repeats = repeats + state.repeats().begun_in_all();
  results::Extended after{before.generations, before.trials, repeats, before.max_epochs};
  if (more_trials) {
    after.generations = bounds.generations;
    after.trials = search_trials(bounds, all_repeats);
  }
  if (more_epochs) after.max_epochs = search_epochs(bounds, all_repeats);
  const results::Extended none{before.generations, before.trials, state.repeats().wanted(),
                               before.max_epochs};
  return after == none ? std::nullopt : std::optional(after);
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

nlohmann::ordered_json with_bounds(nlohmann::ordered_json options, const RunState& state) {
  const auto given = options.find("trials");
  const auto bounds = bounds_of(state, given != options.end() && !given->is_null());
  const auto set = [&](const char* name, const std::optional<int>& value) {
    if (options.contains(name)) options[name] = core::json_or_null(value);
  };
  set("generations", bounds.generations);
  set("trials", bounds.trials);
  set("repeats", bounds.repeats);
  if (bounds.max_epochs) set("max_epochs", bounds.max_epochs);
  return options;
}

}  // namespace evolve::engine

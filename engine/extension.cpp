#include "engine/extension.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "core/error.hpp"
#include "core/json.hpp"
#include "core/number.hpp"
#include "engine/search_bounds.hpp"

namespace evolve::engine {
namespace {

/// Whether these generations let a finished search go on: more than it had, or as many as its
/// `trials` are, the last one not full.
bool are_more(const RunState& state, const Bounds& given) {
  const auto& search = state.evolution().settings();
  if (std::int64_t{*given.generations} * search.population <= state.trainings()) return false;
  if (*given.generations != search.generations) return *given.generations > search.generations;
  return search.trials &&
         search.generations == ga::generations_of(*search.trials, search.population);
}

/// Epochs that the search has taken.
std::int64_t search_spent(const ga::Evolution& search) {
  return search.settings().max_epochs.value_or(std::numeric_limits<int>::max()) -
         search.epochs_left();
}

/// How many whole trainings these bounds of a whole run let begin yet; negative where the run has
/// gone beyond them.
std::int64_t trainings_left(const RunState& state, const ga::Settings& bounds) {
  const auto left = ga::most_trials(bounds) - state.evolution().asked() -
                    std::int64_t{state.repeats().begun_in_all()};
  if (!bounds.max_epochs) return left;
  return std::min(left, (*bounds.max_epochs - epochs_with(state, 0)) / bounds.epochs);
}

/// The same of no bounds but those that are given.
std::int64_t trainings_left(const RunState& state, const Bounds& given) {
  auto bounds = state.evolution().settings();
  bounds.generations = given.generations.value_or(std::numeric_limits<int>::max());
  bounds.trials = given.trials;
  bounds.max_epochs = given.max_epochs;
  return trainings_left(state, bounds);
}

/// The bounds of the whole run, repeats included, with those that are given in place of its own.
ga::Settings bounds_with(const RunState& state, const Bounds& given) {
  auto bounds = state.bounds();
  // A run that --trials ends goes on to these, whatever the generations are.
  const bool ended = state.evolution().done() && !state.ended_for_repeats();
  if (given.generations && (ended ? are_more(state, given) : ends_by_generations(bounds, 0))) {
    bounds.generations = *given.generations;
    bounds.trials.reset();
  }
  if (given.trials) {
    bounds.trials = given.trials;
    bounds.generations = ga::generations_for(*given.trials, bounds.population, bounds.generations);
  }
  if (given.max_epochs) {
    // Generations that bounded nothing do not begin to.
    if (!given.generations && !bounds.trials && bounds.max_epochs &&
        *bounds.max_epochs <= ga::most_trials(bounds))
      bounds.generations =
          ga::generations_for(*given.max_epochs, bounds.population, bounds.generations);
    bounds.max_epochs = given.max_epochs;
  }
  return bounds;
}

/// The bounds of the search of a run that has these, and repeats to come.
results::Extended with_repeats(const RunState& state, const ga::Settings& bounds,
                               std::int64_t repeats) {
  const auto to_come = static_cast<int>(repeats);
  const auto in_all = repeats + state.repeats().begun_in_all();
  const int all = static_cast<int>(std::min<std::int64_t>(in_all, std::numeric_limits<int>::max()));
  return {.generations = bounds.generations,
          .trials = search_trials(bounds, all),
          .repeats = to_come,
          .max_epochs = search_epochs(bounds, all)};
}

Error too_many_repeats(int repeats, std::int64_t left, const std::string& why) {
  return bad_argument(fmt::format("--repeats {}: with {} to come {}", repeats,
                                  core::counted(std::max<std::int64_t>(left, 0), "training"), why),
                      "repeat fewer, or let there be more");
}
constexpr const char* too_few = "there are too few for them";

results::Extended extension_of_search(const RunState& state, const Bounds& given) {
  const auto bounds = bounds_with(state, given);
  const auto left = trainings_left(state, bounds);
  const int wanted = state.repeats().wanted();
  const int repeats = given.repeats.value_or(wanted);
  if (repeats != wanted) {
    const auto after = with_repeats(state, bounds, repeats);
    if (repeats > left) throw too_many_repeats(repeats, left, too_few);
    return after;
  }
  // Repeats that nobody asked for anew keep to bounds that are new.
  const auto own = bounds_of(state, /*trials_given=*/true);
  const auto is_new = [&](std::optional<int> Bounds::*bound) {
    return given.*bound && given.*bound != own.*bound;
  };
  const bool bounded =
      is_new(&Bounds::trials) || is_new(&Bounds::generations) || is_new(&Bounds::max_epochs);
  if (!bounded) return with_repeats(state, bounds, wanted);
  // Those that wait for room have what there is more than before: the search loses nothing.
  const auto more = std::max<std::int64_t>(left - trainings_left(state, state.bounds()), 0);
  const auto most =
      given.repeats ? wanted : std::min<std::int64_t>(wanted + more, state.repeats().wished());
  return with_repeats(state, bounds, std::clamp<std::int64_t>(left, 0, most));
}

/// Of a run whose search is done: it goes on, or what is paused does, or its repeats alone do.
results::Extended extension_of_end(const RunState& state, const Bounds& given) {
  const auto& before = state.evolution().settings();
  const int begun = state.repeats().begun(), wanted = state.repeats().wanted();
  // Nothing to repeat where nothing has completed.
  const int owed = state.completed().empty() ? 0 : state.repeats().due() - begun;
  int repeats = given.repeats.value_or(wanted);
  const auto bounds = bounds_with(state, given);
  const auto left = trainings_left(state, bounds);
  const bool more_epochs =
      given.max_epochs && trainings_left(state, Bounds{.max_epochs = given.max_epochs}) > owed;
  const bool more = more_epochs || (given.trials && *given.trials > state.trainings()) ||
                    (given.generations && are_more(state, given));
  if (more && left > owed) {
    if (repeats != wanted && repeats >= left)
      throw too_many_repeats(repeats, left, "none is left for a new trial");
    // Repeats that nobody asked for anew leave it one training of those to come.
    const int most = given.repeats.value_or(state.repeats().wished());
    return with_repeats(state, bounds, std::clamp<std::int64_t>(left - 1, 0, most));
  }
  const auto room = std::max<std::int64_t>(trainings_left(state, given), 0);
  if (repeats != wanted && repeats > begun + owed && repeats - begun > room)
    throw too_many_repeats(repeats - begun, room, too_few);
  if (repeats == wanted && owed > room) repeats = begun + static_cast<int>(room);
  const bool bounded = given.trials || given.generations || given.max_epochs;
  if (!given.repeats && bounded && room > owed)  // for those that wait for it
    repeats = static_cast<int>(std::max<std::int64_t>(
        repeats, std::min<std::int64_t>(begun + room, state.repeats().wished())));
  if (more_epochs && !state.paused().empty()) {
    const int to_come = given.repeats && repeats != wanted ? repeats : std::max(repeats - begun, 0);
    const int all = to_come + state.repeats().begun_in_all();
    const auto most = *bounds.max_epochs - std::int64_t{all} * before.epochs;
    if (most > search_spent(state.evolution()))
      return {.generations = before.generations,
              .trials = state.evolution().asked(),
              .repeats = to_come,
              .max_epochs = static_cast<int>(most)};
  }
  return {.generations = before.generations,
          .trials = before.trials,
          .repeats = repeats,
          .max_epochs = before.max_epochs};
}

/// Of a run whose search was ended for its repeats: it has the bounds from before, and these
/// repeats were some of their trainings. Of those that are left half at most are repeats.
results::Extended extension_after_repeats(const RunState& state, const Bounds& given) {
  const auto bounds = bounds_with(state, given);
  const auto left = trainings_left(state, bounds);
  if (left < 1) return extension_of_end(state, given);
  if (given.repeats && *given.repeats >= left)
    throw too_many_repeats(*given.repeats, left, "none is left for a new trial");
  return with_repeats(
      state, bounds,
      given.repeats.value_or(std::clamp<std::int64_t>(left / 2, 0, state.repeats().wished())));
}

/// Repeats for which there is no room are wished for, until someone gives a number.
results::Extended with_wish(const RunState& state, const Bounds& given, results::Extended after) {
  const int wished = given.repeats.value_or(state.repeats().wished());
  if (after.repeats < wished) after.wished_repeats = wished;
  return after;
}

/// What has begun is trained to where it was to be, so a smaller bound would say what is not so.
void check_room_for_open(const RunState& state, int max_epochs) {
  const auto least = epochs_with(state, 0);
  if (state.open().empty() || max_epochs >= least) return;
  throw bad_argument(
      fmt::format("--max-epochs {}: after {} what was under way takes {} more", max_epochs,
                  core::counted(state.epochs_trained(), "epoch"), least - state.epochs_trained()),
      fmt::format("write {} or more", least));
}

}  // namespace

std::optional<results::Extended> extension(const RunState& state, const Bounds& given) {
  const auto& before = state.evolution().settings();
  const results::Extended none{.generations = before.generations,
                               .trials = before.trials,
                               .repeats = state.repeats().wanted(),
                               .max_epochs = before.max_epochs};
  if (given.max_epochs && given.max_epochs != state.bounds().max_epochs)
    check_room_for_open(state, *given.max_epochs);
  auto bounds = given;
  if (given.trials) bounds.generations.reset();
  if (state.ended_for_repeats())
    return with_wish(state, given, extension_after_repeats(state, bounds));
  const auto after = state.evolution().done() ? extension_of_end(state, bounds)
                                              : extension_of_search(state, bounds);
  const bool other_wish = given.repeats && given.repeats != state.repeats().wished();
  if (after == none && !other_wish) return {};
  return with_wish(state, given, after);
}

std::optional<results::Extended> end_for_repeats(const RunState& state) {
  const auto& search = state.evolution().settings();
  const auto room = trainings_left(state, state.bounds());
  const auto repeats = std::clamp<std::int64_t>(room, 0, state.repeats().wanted());
  auto end = with_wish(state, {},
                       {.generations = search.generations,
                        .trials = search.trials,
                        .repeats = static_cast<int>(repeats),
                        .max_epochs = search.max_epochs,
                        .for_repeats = true});
  // Where trainings are paused, epochs alone end the search: those that it has taken.
  if (state.evolution().pausing())
    end.max_epochs = static_cast<int>(search_spent(state.evolution()));
  else
    end.trials = state.evolution().asked();
  const bool has_these = end.trials == search.trials && end.max_epochs == search.max_epochs;
  return has_these ? std::nullopt : std::optional(end);
}

std::int64_t epochs_with(const RunState& state, std::int64_t trainings) {
  // A repeat that failed has taken fewer epochs than are kept for it.
  return search_spent(state.evolution()) +
         (trainings + state.repeats().begun_in_all()) * state.evolution().settings().epochs;
}

Bounds bounds_of(const RunState& state, bool trials_given) {
  const auto whole = state.bounds();
  Bounds bounds{.generations = whole.generations,
                .max_epochs = whole.max_epochs,
                .repeats = state.repeats().wanted()};
  if (trials_given || state.repeats().in_all() == 0 || !ends_by_generations(whole, 0))
    bounds.trials = whole.trials;
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
  set("max_epochs", bounds.max_epochs);
  return options;
}

}  // namespace evolve::engine

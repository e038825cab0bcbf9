// How far a run goes that is resumed with other bounds.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/run_state.hpp"

namespace evolve::engine {

/// The bounds of a run as a person gives them: trials and epochs count those of repeats too. What
/// is not given is absent.
struct Bounds {
  std::optional<int> generations = {}, trials = {}, max_epochs = {}, repeats = {};
};

/// What a run would go on with when it is given these bounds, with those of an earlier end for what
/// is absent (where it was its time limit, those before that); nothing: nothing changes. What is
/// given is never exceeded by what begins from then on. Where there are `trials` they decide,
/// whatever the generations are. Once its search is done, it is extended only by larger bounds.
/// `repeats` other than those that it has are then of the trainings to come, and where no bound
/// lets any come all since the search was done, on top of the bounds that it had. Throws `Error`
/// when repeats leave nothing for the search, or the bounds no room for them.
std::optional<results::Extended> extension(const RunState& state, const Bounds& given);

/// What ends the search of a run with what has begun, so that its repeats come next; nothing: it
/// has ended.
std::optional<results::Extended> end_for_repeats(const RunState& state);

/// All epochs of a run that has so many trainings more, repeats among them.
std::int64_t epochs_with(const RunState& state, std::int64_t trainings);

/// The bounds that a run has, extensions included. Besides repeats a search has trials though
/// nobody gave any: those of the generations are then a bound only where `trials_given`.
Bounds bounds_of(const RunState& state, bool trials_given);

/// The options of a run (RunSettings::options), as far as it has these, with the bounds that it
/// has.
nlohmann::ordered_json with_bounds(nlohmann::ordered_json options, const RunState& state);

}  // namespace evolve::engine

// What the trials of a run, and its repeats, tell as they are.
#pragma once

#include <vector>

#include "engine/run_state.hpp"

namespace evolve::engine {

/// Whether one set was trained in both trials.
bool have_one_set(const RunState& state, int trial, int other);

/// What the trainings of the trial's set gave, those that came again bit for bit once.
std::vector<double> trainings_of(const RunState& state, int trial);

/// Whether all of several completed trials have the same fitness: nothing is known of any set then.
bool all_alike(const RunState& state);

/// Whether a set was trained with two seeds: else nobody knows what another seed does.
bool luck_was_seen(const RunState& state);

}  // namespace evolve::engine

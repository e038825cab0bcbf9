// A run as its report shows it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/run_state.hpp"
#include "results/report.hpp"

namespace evolve::engine {

/// The report of a run with these settings, in this state, called `name`, to which that happened;
/// without its explanation.
results::RunReport report_of(const RunState& state, const results::RunSettings& settings,
                             results::Timeline timeline, const std::string& name);

/// Whether one set was trained in both trials.
bool have_one_set(const RunState& state, int trial, int other);

/// What the trainings of the trial's set gave, those that came again bit for bit once.
std::vector<double> trainings_of(const RunState& state, int trial);

/// Whether all of several completed trials have the same fitness: nothing is known of any set then.
bool all_alike(const RunState& state);

/// Whether a set was trained with two seeds: else nobody knows what another seed does.
bool luck_was_seen(const RunState& state);

/// As `explain`; nothing where that refuses: the trials do not tell which genes mattered.
std::optional<results::Explanation> explanation_if_any(const RunState& state);

}  // namespace evolve::engine

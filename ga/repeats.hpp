// Completed trials trained once more, when the search is done.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>

#include "ga/evolution_state.hpp"
#include "ga/recommendation.hpp"
#include "hyp/outcome.hpp"
#include "hyp/trial.hpp"

namespace evolve::ga {

/// The trial whose training once more decides most, where the model is in doubt; else (or without a
/// model) the best of the `completed` trials (fitness by number) that were repeated least,
/// among equals that of the lowest number. Nothing where all that come into question are
/// `under_way`. `begun`: all repeats so far.
std::optional<int> trial_to_repeat(const std::optional<Standing>& standing,
                                   const std::map<int, double>& completed,
                                   std::span<const Repeat> begun, const std::set<int>& under_way);

/// See Evolution::next_repeat.
std::optional<hyp::Trial> next_repeat(EvolutionState& state);
/// A repeat of that trial, of that number, begins, and ends. Throw `Error` where it cannot.
hyp::Trial begin_repeat(EvolutionState& state, int trial, int number);
void end_repeat(EvolutionState& state, const hyp::Outcome& outcome);

}  // namespace evolve::ga

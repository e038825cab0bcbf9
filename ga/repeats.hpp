// Completed trials trained once more, when the search is done: which one comes next.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>

#include "ga/model/observation.hpp"
#include "ga/recommendation.hpp"

namespace evolve::ga {

/// One of them.
struct Repeat {
  int trial = 0;
  /// From 1: which one of that trial.
  int number = 1;
  /// Of one that has ended.
  std::optional<Observation> end = {};
};

/// The trials of these repeats.
std::set<int> trials_of(std::span<const Repeat> repeats);

/// The trial whose training once more decides most, where the model is in doubt; else (or where
/// there is none) the best of the `completed` trials (fitness by number) that were repeated least,
/// among equals that of the lowest number. Nothing where all that come into question are
/// `under_way`. `begun`: all repeats so far.
std::optional<int> trial_to_repeat(const std::optional<Standing>& standing,
                                   const std::map<int, double>& completed,
                                   std::span<const Repeat> begun, const std::set<int>& under_way);

}  // namespace evolve::ga

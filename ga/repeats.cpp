#include "ga/repeats.hpp"

#include <algorithm>
#include <utility>

namespace evolve::ga {

std::set<int> trials_of(std::span<const Repeat> repeats) {
  std::set<int> trials;
  for (const Repeat& repeat : repeats) trials.insert(repeat.trial);
  return trials;
}

std::optional<int> trial_to_repeat(const std::optional<Standing>& standing,
                                   const std::map<int, double>& completed,
                                   std::span<const Repeat> begun, const std::set<int>& under_way) {
  if (standing && standing->doubt > doubtful) return standing->undecided;
  std::optional<int> chosen;
  std::pair<std::ptrdiff_t, double> greatest;
  for (const auto& [trial, fitness] : completed) {
    if (under_way.contains(trial)) continue;
    const std::pair rank(-std::ranges::count(begun, trial, &Repeat::trial), fitness);
    if (chosen && rank <= greatest) continue;
    chosen = trial;
    greatest = rank;
  }
  return chosen;
}

}  // namespace evolve::ga

#include "engine/longer_trainings.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace evolve::engine {

std::optional<LongerTrainings> longer_trainings(const ga::Evolution& evolution) {
  constexpr std::size_t least = 3;
  const int epochs = evolution.settings().epochs;
  int last_look = 0;
  for (int trial = 0; trial < evolution.asked(); ++trial) {
    for (const auto& [epoch, fitness] : evolution.rungs(trial))
      if (epoch < epochs) last_look = std::max(last_look, epoch);
  }
  std::vector<double> growths;
  for (int trial = 0; trial < evolution.asked(); ++trial) {
    const auto& end = evolution.observation(trial);
    const auto look = evolution.rungs(trial).find(last_look);
    if (!end || end->ending != ga::Observation::Ending::completed) continue;
    if (look == evolution.rungs(trial).end() || look->second <= 0) continue;
    growths.push_back(end->fitness / look->second);
  }
  if (growths.size() < least) return {};
  const auto middle = growths.begin() + std::ssize(growths) / 2;
  std::ranges::nth_element(growths, middle);
  // Of one that began to learn late the curve says nothing of what is to come.
  constexpr double steepest = 2;
  if (*middle <= 1 || *middle > steepest) return {};

  LongerTrainings longer{
      .epochs = (3 * epochs + 1) / 2, .looked_at = last_look, .growth = *middle - 1};
  const double power = std::log(*middle) / std::log(static_cast<double>(epochs) / last_look);
  longer.luck = std::pow(static_cast<double>(longer.epochs) / epochs, -power);
  return longer;
}

}  // namespace evolve::engine

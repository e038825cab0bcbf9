// What trainings of more epochs would tell, by the learning curves of those that ended.
#pragma once

#include <optional>

#include "ga/evolution.hpp"

namespace evolve::engine {

struct LongerTrainings {
  /// Half as many again, rounded up.
  int epochs = 0;
  /// Epochs after which the fitness was last looked at before the end, and what it grew by from
  /// there to the end, as a share of what it was, in the median.
  int looked_at = 0;
  double growth = 0;
  /// What share of the fitness luck is then, divided by the share that it is now: fitness grows on
  /// as the same power of the epochs, and luck stays what it is (docs/search_measured.md, "Luck and
  /// epochs").
  double luck = 0;
};

/// Nothing where no more than two completed trainings with a fitness above 0 were looked at before
/// their end, or where fitness does not grow, or grows so steeply that the power says little.
std::optional<LongerTrainings> longer_trainings(const ga::Evolution& evolution);

}  // namespace evolve::engine

// A rung: an epoch after which a trial waits to be told whether it goes on.
#pragma once

#include <string>

#include "hyp/metrics.hpp"

namespace evolve::hyp {

/// A trial at one of its rungs.
struct Rung {
  int trial = 0;
  /// From 1.
  int epoch = 0;
  Metrics metrics = {};
  double fitness = 0;
  /// Name of the slot that trains it.
  std::string device = {};
  bool operator==(const Rung&) const = default;
};

/// What a trial that waits at a rung is told.
enum class Decision { go_on, stop, pause };

}  // namespace evolve::hyp

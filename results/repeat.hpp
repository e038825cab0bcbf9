// A completed trial that was trained once more.
#pragma once

#include <cstdint>

#include "hyp/metrics.hpp"

namespace evolve::results {

/// A completed trial and its repeat.
struct Repeat {
  int trial = 0;
  /// The training seed of the repeat.
  std::uint64_t seed = 0;
  /// Fitness of the trial, and of its repeat.
  double first = 0;
  double again = 0;
  /// Of the repeat.
  hyp::Metrics metrics = {};

  bool operator==(const Repeat&) const = default;
};

}  // namespace evolve::results

// What a run keeps of a trial that completed.
#pragma once

#include "hyp/metrics.hpp"

namespace evolve::engine {

/// A completed trial. Its set is the search's to know (ga::Evolution::hyp): with names it would be
/// most of the memory of a long run.
struct CompletedTrial {
  int trial = 0;
  hyp::Metrics metrics;
  double fitness = 0;
};

}  // namespace evolve::engine

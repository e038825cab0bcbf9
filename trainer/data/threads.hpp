// How many threads work on a data set, and where.
#pragma once

#include <utility>
#include <vector>

namespace evolve::data {

/// As many threads as this process may use.
constexpr int all_threads = -1;

struct Threads {
  /// At most.
  int count = 1;
  /// The cores that they run on, one thread each, even where this process is bound to fewer of
  /// them; empty: `count` threads where it is bound to.
  std::vector<int> cores = {};

  Threads(int threads = 1, std::vector<int> on = {}) : count(threads), cores(std::move(on)) {}
};

}  // namespace evolve::data

// Those whose genes the next child may inherit.
#pragma once

#include <deque>
#include <vector>

#include "hyp/space.hpp"

namespace evolve::ga {

/// An evaluated set. Its fitness is finite.
struct Individual {
  int trial = 0;
  hyp::Genes genes = {};
  double fitness = 0;
  bool operator==(const Individual&) const = default;
};

/// The elites and the latest trials of a run whose individuals arrive one by one. An elite keeps
/// the fitness that it arrived with: it lives on and is never trained again. Remembers only what it
/// may have to show, however long the run.
class MatingPool {
 public:
  /// `latest`: number of latest individuals that are in the pool, at least 1.
  explicit MatingPool(int latest);

  void add(Individual individual);

  /// The `elites` (at most `max_elites`) best of all that were added, the best first, among equals
  /// the earlier one; then the latest others, the oldest first.
  std::vector<Individual> members(int elites) const;

 private:
  std::size_t capacity_;
  std::vector<Individual> best_;
  std::deque<Individual> latest_;
};

}  // namespace evolve::ga

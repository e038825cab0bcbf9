// How many repeats a run has, and what they gave: trainings of trials again, with other seeds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/completed_trial.hpp"
#include "hyp/outcome.hpp"
#include "results/repeat.hpp"

namespace evolve::engine {

/// Knows how many repeats there are and what they gave; of which trials they are is the search's to
/// say (ga::Evolution::next_repeat).
class Repeats {
 public:
  explicit Repeats(int wanted) : wanted_(wanted), wished_(wanted) {}

  /// So many repeats are wanted from now on, in all, and so many would be where there is room.
  void want(int wanted, int wished) { wanted_ = wanted, wished_ = wished; }
  /// The search goes on: repeats that were wanted are wanted of what it will find.
  void start_anew() { earlier_ += std::exchange(begun_, 0); }
  int wanted() const { return wanted_; }
  int wished() const { return wished_; }

  /// A repeat has begun.
  void begin() { ++begun_; }
  /// How many have begun since the search was done.
  int begun() const { return begun_; }
  /// How many repeats there are to be since the search was done: those wanted, or more where more
  /// had begun.
  int due() const { return std::max(begun_, wanted_); }
  /// Some that are wanted have not begun.
  bool more() const { return begun_ < wanted_; }
  /// How many have begun, and how many there are to be, with those before the search went on.
  int begun_in_all() const { return earlier_ + begun_; }
  int in_all() const { return earlier_ + due(); }

  /// A repeat of `first`, trained with `seed`, has ended.
  void add(const hyp::Outcome& outcome, std::uint64_t seed, const CompletedTrial& first);
  /// The repeats that completed, in that order.
  const std::vector<results::Repeat>& completed() const { return completed_; }

 private:
  int wanted_, wished_;
  int begun_ = 0, earlier_ = 0;
  std::vector<results::Repeat> completed_;
};

}  // namespace evolve::engine

// What a run does for its time limit: it ends, and before that its repeats begin, and the last
// trials of its search decide between the best sets.
#pragma once

#include <cstddef>
#include <optional>

#include "engine/run_state.hpp"

namespace evolve::engine {

/// The trainings of a run that have ended: trials, or where trainings are paused as many whole ones
/// as their epochs make.
double trainings_ended(const RunState& state);

/// What a time limit says of a run that this process has been at for `taken` seconds.
struct TimeLimit {
  /// In seconds; nothing: there is none.
  std::optional<double> seconds;
  /// The trainings that had ended before this process began.
  double ended_before = 0;

  /// No trial is to start any more.
  bool is_over(double taken) const { return seconds && taken >= *seconds; }
  /// The repeats are to begin once what is under way has ended on its `slots`; then they follow
  /// each other: the last one begins before the limit, as the last trial would.
  bool is_time_for_repeats(double taken, const RunState& state, std::ptrdiff_t slots) const;
  /// Where the next training is one of the last that the limit lets begin, and the search has more
  /// and does not know it: how many it will have had. Nothing in a classic search, to which that
  /// makes no difference.
  std::optional<results::Expected> expected_end(double taken, const RunState& state,
                                                std::ptrdiff_t slots) const;
};

}  // namespace evolve::engine

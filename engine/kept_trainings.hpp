// What paused trials of the trainers that come with evolve leave in their folders to go on from: as
// large as their weights and more.
#pragma once

#include <cstddef>
#include <filesystem>
#include <set>

#include "engine/run_state.hpp"

namespace evolve::engine {

/// Removes what a paused trial has left to go on from once the trial will not go on. When the run's
/// epochs are spent the trial still may: in a run that is extended.
class KeptTrainings {
 public:
  /// The kept trainings of the run at `root`.
  KeptTrainings(std::filesystem::path root, const RunState& state);

  /// Removes the kept trainings of trials that have ended. To be called when the run begins or goes
  /// on: a coordinator that was killed may not have.
  void remove_ended(const RunState& state);
  /// Removes the kept trainings of trials that have ended, and of paused trials that will not go
  /// on. To be called when a trial or a repeat has ended, or one was paused.
  void update(const RunState& state);

 private:
  void remove(int trial) const;
  /// Removes the kept trainings of paused trials that were given up.
  void remove_given_up(const RunState& state);

  std::filesystem::path root_;
  /// Paused trials of which nothing is kept any more.
  std::set<int> removed_;
  /// So many of RunState::ended have nothing kept.
  std::size_t swept_;
};

}  // namespace evolve::engine

// The weights that trials leave in their folders: those of hundreds would fill a disk.
#pragma once

#include <filesystem>
#include <optional>
#include <set>

#include "engine/run_state.hpp"

namespace evolve::engine {

class KeptWeights {
 public:
  /// Keeps the folder `weights` of the `most` trials of greatest fitness, and of the recommended
  /// one if it was among these when it became that, in the run at `root`, and none of repeats;
  /// nothing: of all.
  KeptWeights(std::filesystem::path root, std::optional<int> most, const RunState& state);

  /// To be called when a trial or a repeat has ended: removes what is not to be kept. A folder that
  /// cannot be removed stays. `recommended`: its place in `RunState::completed`, if there is one.
  void update(const hyp::Outcome& outcome, std::optional<std::size_t> recommended,
              const RunState& state);

 private:
  std::set<int> chosen(std::optional<std::size_t> recommended, const RunState& state) const;
  void remove(int trial, int repeat = 0) const;

  std::filesystem::path root_;
  std::optional<int> most_;
  /// Trials that may have weights.
  std::set<int> kept_;
};

}  // namespace evolve::engine

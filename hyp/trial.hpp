// A trial: one training of one hyperparameter set.
#pragma once

#include <cstdint>
#include <vector>

#include "hyp/hyperparameters.hpp"

namespace evolve::hyp {

struct Trial {
  /// From 0; the start hyp is trial 0.
  int number = 0;
  int generation = 0;
  Hyperparameters hyp = {};
  /// Depends only on the run's seed, the trial and the repeat.
  std::uint64_t seed = 0;
  /// 0: the trial itself; from 1: which repeat of it. A repeat trains a completed trial once more,
  /// with another seed and to the last epoch: it says how lucky the trial was. Nothing is bred from
  /// it.
  int repeat = 0;
  /// The trial goes on after these epochs, where it was paused; 0: from the beginning.
  int start_epoch = 0;
  /// The trial is paused after this epoch; 0: trained to its last one.
  int pause_epoch = 0;
  /// Where trainings are paused: the epochs after which it tells its fitness, that one last.
  std::vector<int> rungs = {};
};

/// The trial has come to the end of the epoch where it is to be paused.
inline bool at_pause(const Trial& trial, int epoch) {
  return trial.pause_epoch > 0 && epoch >= trial.pause_epoch;
}

}  // namespace evolve::hyp

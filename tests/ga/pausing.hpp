// Searches whose trainings, of nine epochs, are paused, and what is trained for them.
#pragma once

#include <functional>
#include <optional>

#include "tests/ga/fixtures.hpp"

namespace evolve::ga {

inline Settings thawing(int max_epochs, std::optional<int> lag = {}) {
  return {.search = "screened", .seed = 3, .lag = lag, .epochs = 9, .max_epochs = max_epochs};
}

/// Curves that rise to the peak; after an epoch of 9 a training has more than half of it.
inline double curve(const hyp::Trial& trial, int epoch) {
  return peak(trial.hyp) * (0.5 + 0.5 * epoch / 9.0);
}

/// Trains what was asked for, as far as it is to be trained.
inline void train(Evolution& evolution, const hyp::Trial& trial,
                  const std::function<double(const hyp::Trial&, int)>& fitness = curve) {
  const int end = trial.pause_epoch > 0 ? trial.pause_epoch : 9;
  for (const int rung : trial.rungs)
    evolution.tell(
        hyp::Rung{.trial = trial.number, .epoch = rung, .fitness = fitness(trial, rung)});
  if (end == 9) return evolution.tell(completed(trial.number, fitness(trial, 9)));
  evolution.tell({.trial = trial.number,
                  .device = "cpu:0",
                  .result = hyp::Paused{.epoch = end, .fitness = fitness(trial, end)}});
}

}  // namespace evolve::ga

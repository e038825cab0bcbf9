// What to train next, a new set or a paused one, and until which epoch: freeze-thaw.
//
// Each way to spend epochs has a price at which it is just worth it (Weitzman 1979, "Optimal search
// for the best alternative": the reservation price of a box; Xie et al. 2024 for Bayesian
// optimization): the improvement over the best trained set that it can be expected to end in, per
// epoch, when it is given up at the rung wherever the rest would not be worth that price. The
// dearest way is taken. A training that looks good at its rung so goes on before another begins,
// one that does not waits, maybe for ever; and where rungs tell nothing, nothing stops there.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ga/model/history.hpp"
#include "hyp/space.hpp"

namespace evolve::ga {

/// The epochs after which a training of `epochs` epochs may be paused: a ninth and a third of them,
/// rounded to the nearest. 9 gives 1 and 3; 3 gives 1; 2 gives none.
std::vector<int> pauses_of(int epochs);

/// What can be expected of the end of a training, in any unit, and what it takes.
struct Prospect {
  double mean = 0, sd = 0;
  /// Standard deviation of what will be expected of the end at the rung. `sd`: the rung is the end.
  double sd_by_rung = 0;
  /// Epochs to the rung, and from there to the end.
  int to_rung = 0, to_end = 0;
};

/// The price per epoch at which a training is just worth its epochs: the p for which
/// E[max(0, E[max(0, end - best) | rung] - p to_end)] = p to_rung, both expectations normal. In
/// units of the prospect per epoch; 0 where it underflows.
double price(const Prospect& prospect, double best);

/// A training that was paused.
struct Thawable {
  int trial = 0;
  hyp::Genes genes = {};
  /// How many epochs it has been trained for.
  int epoch = 0;
};

/// What is trained next.
struct NextTraining {
  /// A paused trial; nothing: a new one.
  std::optional<int> trial;
  /// Where it is paused; 0: at no rung, it is trained to its end.
  int pause_epoch = 0;
};

/// The dearest of a new training of `child` (nothing: no new one can begin) and those that are
/// paused, which end at `epochs` and may be paused at `pauses`. One that could not be trained to
/// its end with `left` epochs is left out; not all may be. `history` has a completed training.
NextTraining next_training(std::span<const hyp::Gene> space, History& history,
                           const std::optional<hyp::Genes>& child, std::span<const Thawable> paused,
                           std::span<const int> pauses, int epochs, int left);

}  // namespace evolve::ga

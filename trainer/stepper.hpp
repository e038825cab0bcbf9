// What follows each backward pass: accumulation, clipping, the step, the moving average.
#pragma once

#include "trainer/flat_state.hpp"
#include "trainer/optimizer.hpp"
#include "trainer/schedule.hpp"

namespace evolve::trainer {

/// YOLOv5's loop around the optimizer. Per epoch: begin_epoch(), then per iteration forward and
/// backward, which add to the gradients, and end_iteration().
class Stepper {
 public:
  /// `weight_decay` is the hyperparameter; it is scaled by batch_size * accumulation / 64 as in
  /// YOLOv5.
  Stepper(FlatState& state, const Schedule& schedule, Algorithm algorithm, double weight_decay);

  /// Drops what a partial accumulation left, as YOLOv5 does.
  void begin_epoch();

  /// What one iteration did.
  struct Report {
    StepSettings settings;
    bool stepped = false;
    /// Before clipping to 10; only known after a step.
    double gradient_norm = 0;
  };
  Report end_iteration(int iteration);

  const Ema& ema() const { return ema_; }

 private:
  FlatState& state_;
  Schedule schedule_;
  Optimizer optimizer_;
  Ema ema_;
  int last_step_ = -1;
};

}  // namespace evolve::trainer

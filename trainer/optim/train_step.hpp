// What follows each backward pass: accumulation, clipping, the step, the moving average.
#pragma once

#include "trainer/optim/amp.hpp"
#include "trainer/optim/flat_parameters.hpp"
#include "trainer/optim/optimizer.hpp"
#include "trainer/optim/schedule.hpp"

namespace evolve::trainer {

/// YOLOv5's loop around the optimizer. Per epoch: begin_epoch(), then per iteration forward and
/// backward, which add to the gradients, and end_iteration().
class TrainStep {
 public:
  /// `weight_decay` is the hyperparameter; it is scaled by batch_size * accumulation / 64 as in
  /// YOLOv5. Losses must be multiplied by loss_scale() before the backward pass.
  TrainStep(FlatParameters& parameters, const Schedule& schedule, Algorithm algorithm,
            double weight_decay, GradScaler scaler = GradScaler(torch::kFloat));

  double loss_scale() const { return scaler_.scale(); }

  /// Drops what a partial accumulation left, as YOLOv5 does.
  void begin_epoch();

  /// What one iteration did.
  struct Report {
    StepSettings settings;
    /// False also for a step that was left out because gradients overflowed.
    bool stepped = false;
    /// Before clipping to 10; only known when a step was due.
    double gradient_norm = 0;
  };
  Report end_iteration(int iteration);

  const Ema& ema() const { return ema_; }

  /// What the steps to come depend on besides the model and the schedule, at an epoch's end.
  struct State {
    Optimizer::State optimizer;
    Ema::State ema;
    GradScaler::State scaler;
    int last_step = -1;
  };
  State state() const;
  /// Goes on where another one, on parameters of the same shapes, had `state`.
  void load_state(const State& state);

 private:
  FlatParameters& parameters_;
  Schedule schedule_;
  Optimizer optimizer_;
  Ema ema_;
  GradScaler scaler_;
  int last_step_ = -1;
};

}  // namespace evolve::trainer

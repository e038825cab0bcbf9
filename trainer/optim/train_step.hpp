// What follows each backward pass: accumulation, clipping, the step, the moving average.
#pragma once

#include <functional>

#include "trainer/optim/amp.hpp"
#include "trainer/optim/flat_parameters.hpp"
#include "trainer/optim/optimizer.hpp"
#include "trainer/optim/schedule.hpp"

namespace evolve::trainer {

/// YOLOv5's loop around the optimizer. Per epoch: begin_epoch(), then per iteration forward and
/// backward, and end_iteration(), which adds to the gradients.
class TrainStep {
 public:
  /// Called once per step that is due with the flat gradients, still scaled: adds to them those of
  /// other processes.
  using AddOthers = std::function<void(const torch::Tensor& gradients)>;

  /// `weight_decay` is the hyperparameter; it is scaled by batch_size * accumulation / 64 as in
  /// YOLOv5. The backward pass is that of scaled(loss).
  TrainStep(FlatParameters& parameters, const Schedule& schedule, Algorithm algorithm,
            double weight_decay, GradScaler scaler = GradScaler(torch::kFloat),
            AddOthers add_others = {});

  torch::Tensor scaled(const torch::Tensor& loss) const { return scaler_.scaled(loss); }
  /// What the forward passes compute in.
  torch::ScalarType precision() const { return scaler_.type(); }
  /// Computes in single precision from now on. Drops what a partial accumulation left: it may not
  /// be finite, and in half precision it is scaled.
  void give_up_16_bits();
  /// The steps left out since the last call, because a gradient was not finite in 16 bits; they are
  /// no steps of the optimizer's. Waits for the device.
  std::int64_t take_left_out();

  /// Drops what a partial accumulation left, as YOLOv5 does. `iteration`: the epoch's first one,
  /// with which steps begin anew where the last one was later: epochs had more iterations then.
  void begin_epoch(int iteration);

  /// What one iteration did.
  struct Report {
    StepSettings settings;
    /// Whether a step was due. In 16 bits it is left out where a gradient is not finite.
    bool stepped = false;
    /// Before clipping to 10, a scalar on the device; undefined when no step was due.
    torch::Tensor gradient_norm = {};
    /// Spent on the moving average.
    double average_seconds = 0;
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
  AddOthers add_others_;
  int last_step_ = -1;
};

}  // namespace evolve::trainer

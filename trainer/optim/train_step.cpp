#include "trainer/optim/train_step.hpp"

#include <torch/torch.h>

namespace evolve::trainer {
namespace {

double scaled_decay(double weight_decay, const Schedule& schedule) {
  return weight_decay * schedule.batch_size * schedule.accumulation() / nominal_batch_size;
}

}  // namespace

TrainStep::TrainStep(FlatParameters& state, const Schedule& schedule, Algorithm algorithm,
                 double weight_decay, GradScaler scaler)
    : state_(state),
      schedule_(schedule),
      optimizer_(algorithm, schedule.momentum, scaled_decay(weight_decay, schedule), state),
      ema_(state),
      scaler_(scaler) {}

void TrainStep::begin_epoch() {
  state_.gradients().zero_();
}

TrainStep::Report TrainStep::end_iteration(int iteration) {
  constexpr double greatest_norm = 10;
  Report report{schedule_.at(iteration)};
  state_.count_batch();
  if (iteration - last_step_ < report.settings.accumulate) return report;
  if (scaler_.scale() != 1) state_.gradients().div_(scaler_.scale());
  report.gradient_norm = clip_gradients(state_, greatest_norm);
  report.stepped = scaler_.accept(report.gradient_norm);
  if (report.stepped) optimizer_.step(state_, report.settings);
  state_.gradients().zero_();
  ema_.update(state_);
  last_step_ = iteration;
  return report;
}

TrainStep::Memory TrainStep::memory() const {
  return {optimizer_.memory(), ema_.memory(), scaler_.state(), last_step_};
}

void TrainStep::recall(const Memory& memory) {
  optimizer_.recall(memory.optimizer);
  ema_.recall(memory.ema);
  scaler_.restore(memory.scaler);
  last_step_ = memory.last_step;
}

}  // namespace evolve::trainer

#include "trainer/stepper.hpp"

#include <torch/torch.h>

namespace evolve::trainer {
namespace {

double scaled_decay(double weight_decay, const Schedule& schedule) {
  return weight_decay * schedule.batch_size * schedule.accumulation() / nominal_batch_size;
}

}  // namespace

Stepper::Stepper(FlatState& state, const Schedule& schedule, Algorithm algorithm,
                 double weight_decay)
    : state_(state),
      schedule_(schedule),
      optimizer_(algorithm, schedule.momentum, scaled_decay(weight_decay, schedule), state),
      ema_(state) {}

void Stepper::begin_epoch() {
  state_.gradients().zero_();
}

Stepper::Report Stepper::end_iteration(int iteration) {
  constexpr double greatest_norm = 10;
  Report report{schedule_.at(iteration)};
  state_.count_batch();
  if (iteration - last_step_ < report.settings.accumulate) return report;
  report.stepped = true;
  report.gradient_norm = clip_gradients(state_, greatest_norm);
  optimizer_.step(state_, report.settings);
  state_.gradients().zero_();
  ema_.update(state_);
  last_step_ = iteration;
  return report;
}

}  // namespace evolve::trainer

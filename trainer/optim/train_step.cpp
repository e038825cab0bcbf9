#include "trainer/optim/train_step.hpp"

#include <torch/torch.h>

#include <algorithm>

#include "trainer/stopwatch.hpp"

namespace evolve::trainer {
namespace {

double scaled_decay(double weight_decay, const Schedule& schedule) {
  return weight_decay * schedule.batch_size * schedule.accumulation() / nominal_batch_size;
}

}  // namespace

TrainStep::TrainStep(FlatParameters& parameters, const Schedule& schedule, Algorithm algorithm,
                     double weight_decay, GradScaler scaler, AddOthers add_others)
    : parameters_(parameters),
      schedule_(schedule),
      optimizer_(algorithm, schedule.momentum, scaled_decay(weight_decay, schedule), parameters),
      ema_(parameters),
      scaler_(scaler),
      add_others_(std::move(add_others)) {}

void TrainStep::begin_epoch(int iteration) {
  last_step_ = std::min(last_step_, iteration - 1);
  parameters_.gradients().zero_();
}

void TrainStep::give_up_16_bits() {
  scaler_ = GradScaler(torch::kFloat);
  parameters_.gradients().zero_();
}

TrainStep::Report TrainStep::end_iteration(int iteration) {
  constexpr double greatest_norm = 10;
  Report report{schedule_.at(iteration)};
  parameters_.collect_gradients();
  if (iteration - last_step_ < report.settings.accumulate) return report;
  report.stepped = true;
  if (add_others_) add_others_(parameters_.gradients());
  scaler_.unscale(parameters_.gradients());
  report.gradient_norm = clip_gradients(parameters_, greatest_norm);
  if (scaler_.guards()) {
    const auto finite = report.gradient_norm.isfinite();
    optimizer_.step_where(finite, parameters_, report.settings);
    scaler_.update(finite);
  } else {
    optimizer_.step(parameters_, report.settings);
  }
  parameters_.gradients().zero_();
  Stopwatch watch;
  ema_.update(parameters_);
  report.average_seconds = watch.lap();
  last_step_ = iteration;
  return report;
}

std::int64_t TrainStep::take_left_out() {
  const auto count = scaler_.take_left_out();
  optimizer_.forget_steps(count);
  return count;
}

TrainStep::State TrainStep::state() const {
  return {optimizer_.state(parameters_), ema_.state(parameters_), scaler_.state(), last_step_};
}

void TrainStep::load_state(const State& state) {
  optimizer_.load_state(state.optimizer, parameters_);
  ema_.load_state(state.ema, parameters_);
  scaler_.load_state(state.scaler);
  last_step_ = state.last_step;
}

}  // namespace evolve::trainer

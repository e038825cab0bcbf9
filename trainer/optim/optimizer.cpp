#include "trainer/optim/optimizer.hpp"

#include <torch/torch.h>

#include <cmath>
#include <vector>

#include "core/error.hpp"
#include "trainer/options.hpp"

namespace evolve::trainer {

Algorithm algorithm_of(const std::string& name) {
  if (name == "SGD") return Algorithm::sgd;
  if (name == "Adam") return Algorithm::adam;
  if (name == "AdamW") return Algorithm::adamw;
  throw bad_argument("optimizer '" + name + "' is unknown",
                     std::string("choose ") + optimizers_text);
}

Optimizer::Optimizer(Algorithm algorithm, double momentum, double weight_decay,
                     const FlatParameters& parameters)
    : algorithm_(algorithm),
      beta1_(momentum),
      weight_decay_(weight_decay),
      first_(torch::zeros_like(parameters.gradients())) {
  if (algorithm_ != Algorithm::sgd) second_ = torch::zeros_like(first_);
}

void Optimizer::step(FlatParameters& parameters, const StepSettings& settings) {
  torch::NoGradGuard no_grad;
  ++steps_;
  const auto decayed = parameters.group(decay_group);
  auto values = decayed.of(parameters.values());
  if (algorithm_ == Algorithm::adamw) {
    values.mul_(1 - settings.learning_rate[decay_group] * weight_decay_);
  } else {
    decayed.of(parameters.gradients()).add_(values, weight_decay_);
  }
  algorithm_ == Algorithm::sgd ? sgd(parameters, settings) : adam(parameters, settings);
}

void Optimizer::step_where(const torch::Tensor& taken, FlatParameters& parameters,
                           const StepSettings& settings) {
  const bool known = taken.is_cpu();  // without waiting for it
  if (known && taken.item<bool>()) return step(parameters, settings);
  std::vector<torch::Tensor> changing = {parameters.parameters(), first_};
  if (second_.defined()) changing.push_back(second_);
  std::vector<torch::Tensor> before;
  for (const auto& tensor : changing) before.push_back(tensor.clone());
  step(parameters, settings);
  torch::NoGradGuard no_grad;
  for (std::size_t i = 0; i < changing.size(); ++i)
    changing[i].copy_(torch::where(taken, changing[i], before[i]));
}

void Optimizer::sgd(FlatParameters& parameters, const StepSettings& settings) {
  auto gradients = parameters.gradients();
  first_.mul_(settings.momentum).add_(gradients);
  gradients.add_(first_, settings.momentum);
  for (std::size_t g = 0; g < group_count; ++g) {
    const auto range = parameters.group(static_cast<Group>(g));
    range.of(parameters.values()).add_(range.of(gradients), -settings.learning_rate[g]);
  }
}

void Optimizer::adam(FlatParameters& parameters, const StepSettings& settings) {
  constexpr double beta2 = 0.999;
  constexpr double epsilon = 1e-8;
  auto gradients = parameters.gradients();
  first_.mul_(beta1_).add_(gradients, 1 - beta1_);
  second_.mul_(beta2).addcmul_(gradients, gradients, 1 - beta2);
  const auto steps = static_cast<double>(steps_);
  const double correction1 = 1 - std::pow(beta1_, steps);
  const double correction2 = 1 - std::pow(beta2, steps);
  // The gradients have served: their memory takes the denominator.
  torch::sqrt_out(gradients, second_).div_(std::sqrt(correction2)).add_(epsilon);
  for (std::size_t g = 0; g < group_count; ++g) {
    const auto range = parameters.group(static_cast<Group>(g));
    range.of(parameters.values())
        .addcdiv_(range.of(first_), range.of(gradients), -settings.learning_rate[g] / correction1);
  }
}

Optimizer::State Optimizer::state(const FlatParameters& parameters) const {
  return {parameters.packed(first_),
          second_.defined() ? parameters.packed(second_) : torch::Tensor(), steps_};
}

void Optimizer::load_state(const State& state, const FlatParameters& parameters) {
  parameters.unpack(state.first, first_);
  if (second_.defined()) parameters.unpack(state.second, second_);
  steps_ = state.steps;
}

torch::Tensor clip_gradients(FlatParameters& parameters, double greatest) {
  torch::NoGradGuard no_grad;
  const auto norm = torch::stack(torch::_foreach_norm(parameters.gradients_of_parameters())).norm();
  // By way of the reciprocal, as Python divides a number by a tensor.
  const auto scale = (norm + 1e-6).reciprocal_().mul_(greatest).clamp_max_(1);
  parameters.gradients().mul_(scale);
  return norm;
}

double Ema::decay(std::int64_t updates) {
  return 0.9999 * (1 - std::exp(-static_cast<double>(updates) / 2000));
}

Ema::State Ema::state(const FlatParameters& parameters) const {
  return {parameters.packed(values_), updates_};
}

void Ema::load_state(const State& state, const FlatParameters& parameters) {
  parameters.unpack(state.values, values_);
  updates_ = state.updates;
}

void Ema::update(const FlatParameters& parameters) {
  torch::NoGradGuard no_grad;
  // Not lerp_(), whose loop is no vector instructions on the CPU. What is frozen stays as it is.
  values_.add_(parameters.values() - values_, 1 - decay(++updates_));
}

}  // namespace evolve::trainer

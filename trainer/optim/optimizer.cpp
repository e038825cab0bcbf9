#include "trainer/optim/optimizer.hpp"

#include <torch/torch.h>

#include <cmath>

#include "core/error.hpp"

namespace evolve::trainer {

Algorithm algorithm_of(const std::string& name) {
  if (name == "SGD") return Algorithm::sgd;
  if (name == "Adam") return Algorithm::adam;
  if (name == "AdamW") return Algorithm::adamw;
  throw bad_argument("optimizer '" + name + "' is unknown", "choose SGD, Adam or AdamW");
}

Optimizer::Optimizer(Algorithm algorithm, double momentum, double weight_decay,
                     const FlatParameters& state)
    : algorithm_(algorithm),
      beta1_(momentum),
      weight_decay_(weight_decay),
      first_(torch::zeros_like(state.gradients())) {
  if (algorithm_ != Algorithm::sgd) second_ = torch::zeros_like(first_);
}

void Optimizer::step(FlatParameters& state, const StepSettings& settings) {
  torch::NoGradGuard no_grad;
  ++steps_;
  const auto decayed = state.group(decay_group);
  auto values = decayed.of(state.values());
  if (algorithm_ == Algorithm::adamw) {
    values.mul_(1 - settings.learning_rate[decay_group] * weight_decay_);
  } else {
    decayed.of(state.gradients()).add_(values, weight_decay_);
  }
  algorithm_ == Algorithm::sgd ? sgd(state, settings) : adam(state, settings);
}

void Optimizer::sgd(FlatParameters& state, const StepSettings& settings) {
  auto gradients = state.gradients();
  first_.mul_(settings.momentum).add_(gradients);
  gradients.add_(first_, settings.momentum);
  for (std::size_t g = 0; g < group_count; ++g) {
    const auto range = state.group(static_cast<Group>(g));
    range.of(state.values()).add_(range.of(gradients), -settings.learning_rate[g]);
  }
}

void Optimizer::adam(FlatParameters& state, const StepSettings& settings) {
  constexpr double beta2 = 0.999;
  constexpr double epsilon = 1e-8;
  auto gradients = state.gradients();
  first_.mul_(beta1_).add_(gradients, 1 - beta1_);
  second_.mul_(beta2).addcmul_(gradients, gradients, 1 - beta2);
  const auto steps = static_cast<double>(steps_);
  const double correction1 = 1 - std::pow(beta1_, steps);
  const double correction2 = 1 - std::pow(beta2, steps);
  // The gradients have served: their memory takes the denominator.
  torch::sqrt_out(gradients, second_).div_(std::sqrt(correction2)).add_(epsilon);
  for (std::size_t g = 0; g < group_count; ++g) {
    const auto range = state.group(static_cast<Group>(g));
    range.of(state.values())
        .addcdiv_(range.of(first_), range.of(gradients), -settings.learning_rate[g] / correction1);
  }
}

void Optimizer::recall(const Memory& memory) {
  first_.copy_(memory.first);
  if (second_.defined()) second_.copy_(memory.second);
  steps_ = memory.steps;
}

double clip_gradients(FlatParameters& state, double greatest) {
  std::vector<torch::Tensor> norms;
  for (const auto& gradient : state.gradients_of_parameters()) norms.push_back(gradient.norm());
  const auto norm = torch::stack(norms).norm().item<float>();
  // By way of the reciprocal, as Python divides a number by a tensor.
  const float scale = 1 / (norm + 1e-6F) * static_cast<float>(greatest);
  if (scale < 1) state.gradients().mul_(scale);
  return norm;
}

double Ema::decay(std::int64_t updates) {
  return 0.9999 * (1 - std::exp(-static_cast<double>(updates) / 2000));
}

void Ema::recall(const Memory& memory) {
  values_.copy_(memory.values);
  updates_ = memory.updates;
}

void Ema::update(const FlatParameters& state) {
  torch::NoGradGuard no_grad;
  values_.lerp_(state.values(), 1 - decay(++updates_));
}

}  // namespace evolve::trainer

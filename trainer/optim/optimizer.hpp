// SGD, Adam and AdamW on a flat state, and the moving average of a model.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <string>

#include "trainer/optim/flat_parameters.hpp"
#include "trainer/optim/schedule.hpp"

namespace evolve::trainer {

enum class Algorithm { sgd, adam, adamw };

/// "SGD", "Adam" or "AdamW"; throws `Error` for another name.
Algorithm algorithm_of(const std::string& name);

/// torch.optim's SGD (Nesterov), Adam and AdamW to the letter. Only the decay group decays.
class Optimizer {
 public:
  /// `momentum` is the Adams' β₁ (β₂ is 0.999). `weight_decay` is for one step, whatever the batch
  /// size.
  Optimizer(Algorithm algorithm, double momentum, double weight_decay, const FlatParameters& state);

  /// One step along the gradients of `state`, which are used up.
  void step(FlatParameters& state, const StepSettings& settings);

  /// What earlier steps left behind.
  struct Memory {
    /// As FlatParameters::gradients(); `second` is undefined with SGD.
    torch::Tensor first, second;
    std::int64_t steps = 0;
  };
  Memory memory() const { return {first_, second_, steps_}; }
  void recall(const Memory& memory);

 private:
  void sgd(FlatParameters& state, const StepSettings& settings);
  void adam(FlatParameters& state, const StepSettings& settings);

  Algorithm algorithm_;
  double beta1_, weight_decay_;
  /// SGD's momentum buffer or Adam's first moment, and Adam's second.
  torch::Tensor first_, second_;
  std::int64_t steps_ = 0;
};

/// Scales the gradients down to a norm of at most `greatest`; returns the norm they had. As
/// torch.nn.utils.clip_grad_norm_ finds it: the norm of the parameters' norms, in single precision.
double clip_gradients(FlatParameters& state, double greatest);

/// Exponential moving average of a state: weight 0.9999 * (1 - exp(-updates / 2000)) stays with the
/// old one.
class Ema {
 public:
  explicit Ema(const FlatParameters& state) : values_(state.values().clone()) {}
  void update(const FlatParameters& state);
  /// As FlatParameters::values().
  const torch::Tensor& values() const { return values_; }
  static double decay(std::int64_t updates);

  struct Memory {
    torch::Tensor values;
    std::int64_t updates = 0;
  };
  Memory memory() const { return {values_, updates_}; }
  void recall(const Memory& memory);

 private:
  torch::Tensor values_;
  std::int64_t updates_ = 0;
};

}  // namespace evolve::trainer

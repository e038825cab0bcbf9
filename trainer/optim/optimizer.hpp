// SGD, Adam and AdamW on flat parameters, and the moving average of a model.
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
  Optimizer(Algorithm algorithm, double momentum, double weight_decay,
            const FlatParameters& parameters);

  /// One step along the gradients of `parameters`, which are used up.
  void step(FlatParameters& parameters, const StepSettings& settings);
  /// One step where `taken` (a bool on the device) is true; else nothing changes. The host does not
  /// know which: the step counts until forget_steps().
  void step_where(const torch::Tensor& taken, FlatParameters& parameters,
                  const StepSettings& settings);
  /// Takes back so many of the steps counted, which were not taken.
  void forget_steps(std::int64_t count) { steps_ -= count; }

  /// What earlier steps left behind.
  struct State {
    /// As FlatParameters::gradients(), packed; `second` is undefined with SGD.
    torch::Tensor first, second;
    std::int64_t steps = 0;
  };
  /// `parameters` are those of the constructor.
  State state(const FlatParameters& parameters) const;
  void load_state(const State& state, const FlatParameters& parameters);

 private:
  void sgd(FlatParameters& parameters, const StepSettings& settings);
  void adam(FlatParameters& parameters, const StepSettings& settings);

  Algorithm algorithm_;
  double beta1_, weight_decay_;
  /// SGD's momentum buffer or Adam's first moment, and Adam's second.
  torch::Tensor first_, second_;
  std::int64_t steps_ = 0;
};

/// Scales the gradients down to a norm of at most `greatest`; returns the norm they had, a scalar
/// on their device. As torch.nn.utils.clip_grad_norm_ finds it: the norm of the parameters' norms,
/// in single precision.
torch::Tensor clip_gradients(FlatParameters& parameters, double greatest);

/// Exponential moving average of a model: weight 0.9999 * (1 - exp(-updates / 2000)) stays with the
/// old one.
class Ema {
 public:
  explicit Ema(const FlatParameters& parameters) : values_(parameters.values().clone()) {}
  void update(const FlatParameters& parameters);
  /// As FlatParameters::values().
  const torch::Tensor& values() const { return values_; }
  static double decay(std::int64_t updates);

  struct State {
    /// As FlatParameters::values(), packed.
    torch::Tensor values;
    std::int64_t updates = 0;
  };
  /// `parameters` are those of the constructor.
  State state(const FlatParameters& parameters) const;
  void load_state(const State& state, const FlatParameters& parameters);

 private:
  torch::Tensor values_;
  std::int64_t updates_ = 0;
};

}  // namespace evolve::trainer

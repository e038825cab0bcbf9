// The operator that a YOLOv5 model is made of.
#pragma once

#include <torch/types.h>

#include "trainer/model/model_config.hpp"
#include "trainer/model/operators.hpp"

namespace evolve::trainer {

/// The convolution that `spec` describes; `bias` may be undefined. On the CPU it is convolution()
/// in the type of `x`, to which weights are rounded; autograd follows it.
torch::Tensor convolve(const torch::Tensor& x, const torch::Tensor& weight,
                       const torch::Tensor& bias, const ConvSpec& spec);

/// silu(x) in place; on the CPU the loop of bn_silu.hpp, in bfloat16 rounded once.
void silu_of(torch::Tensor& x);

struct BatchNormTensors {
  torch::Tensor gamma, beta, running_mean, running_var;
  double epsilon = 1e-3, momentum = 0.03;
};

/// silu(batch_norm(conv(x))): in training with the batch's statistics, which go into the running
/// ones, else with the running ones. Training on the CPU the fast operators are the loops of
/// bn_silu.hpp: in single precision the same numbers as torch's up to rounding, in bfloat16 with
/// maps and weights rounded, all sums and statistics in single precision or double.
torch::Tensor conv_bn_silu(const torch::Tensor& x, const torch::Tensor& weight,
                           const ConvSpec& spec, const BatchNormTensors& bn, bool training,
                           Operators operators = Operators::fast);

}  // namespace evolve::trainer

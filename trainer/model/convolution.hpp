// Convolutions on the CPU, unseen by autograd, of maps in single precision or bfloat16. They are
// computed by oneDNN itself where libtorch calls the system's (convolution_onednn.cpp), otherwise
// by torch (convolution_torch.cpp), whose own oneDNN no program can call.
#pragma once

#include <torch/types.h>

#include "trainer/model/model_config.hpp"

namespace evolve::trainer {

/// The convolution that `spec` describes of `x` [images, in, height, width] with `weight` [out, in
/// / groups, kernel, kernel] and `bias` [out], which may be undefined, both in single precision.
/// The weight is rounded to the type of `x`, in which the result is, in channels-last memory; sums
/// are in single precision.
torch::Tensor convolution(const torch::Tensor& x, const torch::Tensor& weight,
                          const torch::Tensor& bias, const ConvSpec& spec);

struct ConvolutionGradients {
  /// In the type of `x`; undefined where nobody asks for it.
  torch::Tensor x;
  /// In single precision.
  torch::Tensor weight;
};

/// What a `gradient` with respect to the result, in its type, makes of `x` and `weight`.
ConvolutionGradients convolution_gradients(const torch::Tensor& gradient, const torch::Tensor& x,
                                           const torch::Tensor& weight, const ConvSpec& spec,
                                           bool of_x);

}  // namespace evolve::trainer

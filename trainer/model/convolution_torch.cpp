#include <torch/torch.h>

#include <tuple>
#include <vector>

#include "trainer/model/convolution.hpp"

namespace evolve::trainer {

torch::Tensor convolution(const torch::Tensor& x, const torch::Tensor& weight,
                          const torch::Tensor& bias, const ConvSpec& spec) {
  const auto type = x.scalar_type();
  return torch::conv2d(x, weight.to(type), bias.defined() ? bias.to(type) : bias, spec.stride,
                       spec.padding, 1, spec.groups)
      .contiguous(at::MemoryFormat::ChannelsLast);
}

ConvolutionGradients convolution_gradients(const torch::Tensor& gradient, const torch::Tensor& x,
                                           const torch::Tensor& weight, const ConvSpec& spec,
                                           bool of_x) {
  const std::vector<std::int64_t> stride(2, spec.stride), padding(2, spec.padding);
  const auto gradients = at::convolution_backward(
      gradient, x, weight.to(x.scalar_type()), {}, stride, padding, {1, 1}, /*transposed=*/false,
      {0, 0}, spec.groups, {of_x, /*weight=*/true, /*bias=*/false});
  return {std::get<0>(gradients), std::get<1>(gradients).to(torch::kFloat)};
}

}  // namespace evolve::trainer

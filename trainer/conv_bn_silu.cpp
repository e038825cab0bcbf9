#include "trainer/conv_bn_silu.hpp"

#include <ATen/Parallel.h>
#include <torch/torch.h>

#include <cmath>
#include <vector>

#include "trainer/bn_silu.hpp"

namespace evolve::trainer {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr std::int64_t pictures_for_onednn = 16;

bool goes_by_rows(const torch::Tensor& x, const ConvSpec& spec) {
  return x.is_cpu() && spec.kernel == 1 && spec.stride == 1 && spec.padding == 0 &&
         x.size(0) < pictures_for_onednn && at::get_num_threads() == 1;
}

/// [batch, channels, height, width] as [batch * height, channels, 1, width], a view of
/// channels-last memory.
torch::Tensor rows_of(const torch::Tensor& x) {
  return x.permute({0, 2, 3, 1})
      .reshape({x.size(0) * x.size(2), 1, x.size(3), x.size(1)})
      .permute({0, 3, 1, 2});
}

/// The inverse, for maps of height and width of `like`.
torch::Tensor pictures_of(const torch::Tensor& rows, const torch::Tensor& like) {
  return rows.permute({0, 2, 3, 1})
      .reshape({like.size(0), like.size(2), like.size(3), rows.size(1)})
      .permute({0, 3, 1, 2});
}

void parallel(std::int64_t count, const std::function<void(std::int64_t)>& f) {
  at::parallel_for(0, count, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) f(i);
  });
}

MapShape shape_of(const torch::Tensor& map) {
  return {map.numel() / map.size(1), map.size(1)};
}

/// Batch statistics [2, channels]: mean and inverse deviation. Updates the running ones.
torch::Tensor take_statistics(const torch::Tensor& map, const BatchNormTensors& bn) {
  const MapShape shape = shape_of(map);
  auto statistics = torch::empty({2, shape.channels});
  float* mean = statistics.data_ptr<float>();
  float* deviation = mean + shape.channels;
  channel_moments(map.data_ptr<float>(), shape, parallel, mean, deviation);
  float* running_mean = bn.running_mean.data_ptr<float>();
  float* running_var = bn.running_var.data_ptr<float>();
  const auto momentum = static_cast<float>(bn.momentum);
  const auto rows = static_cast<double>(shape.rows);
  const auto unbias = static_cast<float>(rows / std::max(rows - 1, 1.0));
  for (std::int64_t c = 0; c < shape.channels; ++c) {
    const float variance = deviation[c];
    running_mean[c] = (1 - momentum) * running_mean[c] + momentum * mean[c];
    running_var[c] = (1 - momentum) * running_var[c] + momentum * variance * unbias;
    deviation[c] = static_cast<float>(1 / std::sqrt(variance + bn.epsilon));
  }
  return statistics;
}

torch::Tensor normalised_silu(const torch::Tensor& map, const torch::Tensor& statistics,
                              const BatchNormTensors& bn) {
  const MapShape shape = shape_of(map);
  const auto channels = static_cast<std::size_t>(shape.channels);
  const float* mean = statistics.data_ptr<float>();
  const float* deviation = mean + channels;
  const float* gamma = bn.gamma.data_ptr<float>();
  const float* beta = bn.beta.data_ptr<float>();
  std::vector<float> scale(channels), shift(channels);
  for (std::size_t c = 0; c < channels; ++c) {
    scale[c] = gamma[c] * deviation[c];
    shift[c] = beta[c] - mean[c] * scale[c];
  }
  auto out = torch::empty_like(map);
  affine_silu(map.data_ptr<float>(), shape, scale.data(), shift.data(), parallel,
              out.data_ptr<float>());
  return out;
}

/// The three operators as one for autograd, on the CPU.
class FusedConvBnSilu : public torch::autograd::Function<FusedConvBnSilu> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& weight, const torch::Tensor& gamma,
                               const torch::Tensor& beta, const ConvSpec& spec,
                               const BatchNormTensors& bn) {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    const auto map = convolve(x, weight, {}, spec).contiguous(at::MemoryFormat::ChannelsLast);
    const auto statistics = take_statistics(map, bn);
    context->save_for_backward({x, weight, gamma, beta, map, statistics});
    context->saved_data["stride"] = static_cast<std::int64_t>(spec.stride);
    context->saved_data["padding"] = static_cast<std::int64_t>(spec.padding);
    context->saved_data["groups"] = static_cast<std::int64_t>(spec.groups);
    return normalised_silu(map, statistics, bn);
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto &x = saved[0], &weight = saved[1], &gamma = saved[2], &beta = saved[3],
               &map = saved[4], &statistics = saved[5];
    ConvSpec spec;
    spec.kernel = static_cast<int>(weight.size(2));
    spec.stride = static_cast<int>(context->saved_data["stride"].toInt());
    spec.padding = static_cast<int>(context->saved_data["padding"].toInt());
    spec.groups = static_cast<int>(context->saved_data["groups"].toInt());

    const auto gradient = gradients[0].contiguous(at::MemoryFormat::ChannelsLast);
    const MapShape shape = shape_of(map);
    auto map_gradient = torch::empty_like(map);
    const auto bn_gradients = torch::empty({2, shape.channels});
    const float* mean = statistics.data_ptr<float>();
    float* gamma_gradient = bn_gradients.data_ptr<float>();
    bn_silu_backward(map.data_ptr<float>(), gradient.data_ptr<float>(), shape,
                     {gamma.data_ptr<float>(), beta.data_ptr<float>(), mean, mean + shape.channels},
                     parallel, map_gradient.data_ptr<float>(), gamma_gradient,
                     gamma_gradient + shape.channels);
    const auto [x_gradient, weight_gradient] =
        convolution_gradients(map_gradient, x, weight, spec, context->needs_input_grad(0));
    return {x_gradient, weight_gradient, bn_gradients[0], bn_gradients[1], {}, {}};
  }

 private:
  static std::pair<torch::Tensor, torch::Tensor> convolution_gradients(
      const torch::Tensor& gradient, const torch::Tensor& x, const torch::Tensor& weight,
      const ConvSpec& spec, bool of_input) {
    const bool by_rows = goes_by_rows(x, spec);
    const std::vector<std::int64_t> stride(2, spec.stride), padding(2, spec.padding);
    auto [of_x, of_weight, of_bias] = at::convolution_backward(
        by_rows ? rows_of(gradient) : gradient, by_rows ? rows_of(x) : x, weight, c10::nullopt,
        stride, padding, {1, 1}, /*transposed=*/false, {0, 0}, spec.groups,
        {of_input, /*weight=*/true, /*bias=*/false});
    if (by_rows && of_input) of_x = pictures_of(of_x, x);
    return {of_x, of_weight};
  }
};

}  // namespace

torch::Tensor convolve(const torch::Tensor& x, const torch::Tensor& weight,
                       const torch::Tensor& bias, const ConvSpec& spec) {
  if (!goes_by_rows(x, spec)) {
    return torch::conv2d(x, weight, bias, spec.stride, spec.padding, 1, spec.groups);
  }
  return pictures_of(
      torch::conv2d(rows_of(x), weight, bias, spec.stride, spec.padding, 1, spec.groups), x);
}

torch::Tensor conv_bn_silu(const torch::Tensor& x, const torch::Tensor& weight,
                           const ConvSpec& spec, const BatchNormTensors& bn) {
  if (x.is_cpu() && x.scalar_type() == torch::kFloat) {
    return FusedConvBnSilu::apply(x, weight, bn.gamma, bn.beta, spec, bn);
  }
  const auto map = convolve(x, weight, {}, spec);
  return torch::silu(torch::batch_norm(map, bn.gamma, bn.beta, bn.running_mean, bn.running_var,
                                       /*training=*/true, bn.momentum, bn.epsilon,
                                       /*cudnn_enabled=*/true));
}

}  // namespace evolve::trainer

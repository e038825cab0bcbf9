#include "trainer/model/conv_bn_silu.hpp"

#include <ATen/Parallel.h>
#include <torch/torch.h>

#include <cmath>
#include <vector>

#include "trainer/model/bn_silu.hpp"
#include "trainer/model/parallel.hpp"

namespace evolve::trainer {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr std::int64_t images_for_onednn = 16;

bool goes_by_rows(const torch::Tensor& x, const ConvSpec& spec) {
  return x.is_cpu() && spec.kernel == 1 && spec.stride == 1 && spec.padding == 0 &&
         x.size(0) < images_for_onednn && at::get_num_threads() == 1;
}

/// [batch, channels, height, width] as [batch * height, channels, 1, width], a view of
/// channels-last memory; where that is too few images for oneDNN, each pixel is one.
torch::Tensor rows_of(const torch::Tensor& x) {
  const auto rows = x.size(0) * x.size(2);
  const auto width = rows < images_for_onednn ? 1 : x.size(3);
  return x.permute({0, 2, 3, 1})
      .reshape({rows * x.size(3) / width, 1, width, x.size(1)})
      .permute({0, 3, 1, 2});
}

/// The inverse, for maps of height and width of `like`.
torch::Tensor images_of(const torch::Tensor& rows, const torch::Tensor& like) {
  return rows.permute({0, 2, 3, 1})
      .reshape({like.size(0), like.size(2), like.size(3), rows.size(1)})
      .permute({0, 3, 1, 2});
}

MapShape shape_of(const torch::Tensor& map) {
  return {map.numel() / map.size(1), map.size(1)};
}

/// A weight, or no bias, in the type of the maps that it meets on the CPU. On GPUs autocast rounds.
torch::Tensor rounded_for(const torch::Tensor& x, const torch::Tensor& weight) {
  return x.is_cpu() && weight.defined() ? weight.to(x.scalar_type()) : weight;
}

/// Whether the loops of bn_silu.hpp know its type.
bool has_loops(const torch::Tensor& map) {
  return map.is_cpu() &&
         (map.scalar_type() == torch::kFloat || map.scalar_type() == torch::kBFloat16);
}

/// f.operator()<Number>() with the type of such a map's numbers.
template <class F>
void with_number_of(const torch::Tensor& map, F f) {
  if (map.scalar_type() == torch::kFloat) return f.template operator()<float>();
  f.template operator()<BFloat16>();
}

template <class Number>
Number* numbers(const torch::Tensor& map) {
  return static_cast<Number*>(map.data_ptr());
}

/// Batch statistics [2, channels] in double precision: mean and inverse deviation. Updates the
/// running ones.
torch::Tensor take_statistics(const torch::Tensor& map, const BatchNormTensors& bn) {
  const MapShape shape = shape_of(map);
  auto statistics = torch::empty({2, shape.channels}, torch::kDouble);
  double* mean = statistics.data_ptr<double>();
  double* deviation = mean + shape.channels;
  with_number_of(map, [&]<class Number>() {
    channel_moments(numbers<Number>(map), shape, parallel_for, mean, deviation);
  });
  float* running_mean = bn.running_mean.data_ptr<float>();
  float* running_var = bn.running_var.data_ptr<float>();
  const auto rows = static_cast<double>(shape.rows);
  const double unbias = rows / std::max(rows - 1, 1.0);
  const auto follow = [&](float& running, double value) {
    running = static_cast<float>((1 - bn.momentum) * running + bn.momentum * value);
  };
  for (std::int64_t c = 0; c < shape.channels; ++c) {
    const double variance = deviation[c];
    follow(running_mean[c], mean[c]);
    follow(running_var[c], variance * unbias);
    deviation[c] = 1 / std::sqrt(variance + bn.epsilon);
  }
  return statistics;
}

BatchNorm batch_norm_of(const torch::Tensor& gamma, const torch::Tensor& beta,
                        const torch::Tensor& statistics) {
  const double* mean = statistics.data_ptr<double>();
  return {gamma.data_ptr<float>(), beta.data_ptr<float>(), mean, mean + statistics.size(1)};
}

/// The three operators as one for autograd, on the CPU, in the type of `x`: a weight in single
/// precision is rounded to it.
class FusedConvBnSilu : public torch::autograd::Function<FusedConvBnSilu> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& weight, const torch::Tensor& gamma,
                               const torch::Tensor& beta, const ConvSpec& spec,
                               const BatchNormTensors& bn) {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    const auto rounded = rounded_for(x, weight);
    const auto map = convolve(x, rounded, {}, spec).contiguous(at::MemoryFormat::ChannelsLast);
    const auto statistics = take_statistics(map, bn);
    context->save_for_backward({x, rounded, gamma, beta, map, statistics});
    context->saved_data["stride"] = static_cast<std::int64_t>(spec.stride);
    context->saved_data["padding"] = static_cast<std::int64_t>(spec.padding);
    context->saved_data["groups"] = static_cast<std::int64_t>(spec.groups);
    auto out = torch::empty_like(map);
    with_number_of(map, [&]<class Number>() {
      bn_silu(numbers<Number>(map), shape_of(map), batch_norm_of(gamma, beta, statistics),
              parallel_for, numbers<Number>(out));
    });
    return out;
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
    auto map_gradient = torch::empty_like(map);
    auto gamma_gradient = torch::empty_like(gamma), beta_gradient = torch::empty_like(beta);
    with_number_of(map, [&]<class Number>() {
      bn_silu_backward(numbers<Number>(map), numbers<Number>(gradient), shape_of(map),
                       batch_norm_of(gamma, beta, statistics), parallel_for,
                       numbers<Number>(map_gradient), gamma_gradient.data_ptr<float>(),
                       beta_gradient.data_ptr<float>());
    });
    const auto [x_gradient, weight_gradient] =
        convolution_gradients(map_gradient, x, weight, spec, context->needs_input_grad(0));
    return {x_gradient, weight_gradient.to(torch::kFloat), gamma_gradient, beta_gradient, {}, {}};
  }

 private:
  static std::pair<torch::Tensor, torch::Tensor> convolution_gradients(
      const torch::Tensor& gradient, const torch::Tensor& x, const torch::Tensor& weight,
      const ConvSpec& spec, bool of_input) {
    const bool by_rows = goes_by_rows(x, spec);
    const std::vector<std::int64_t> stride(2, spec.stride), padding(2, spec.padding);
    auto [of_x, of_weight, of_bias] =
        at::convolution_backward(by_rows ? rows_of(gradient) : gradient, by_rows ? rows_of(x) : x,
                                 weight, {}, stride, padding, {1, 1}, /*transposed=*/false, {0, 0},
                                 spec.groups, {of_input, /*weight=*/true, /*bias=*/false});
    if (by_rows && of_input) of_x = images_of(of_x, x);
    return {of_x, of_weight};
  }
};

}  // namespace

torch::Tensor convolve(const torch::Tensor& x, const torch::Tensor& weight,
                       const torch::Tensor& bias, const ConvSpec& spec) {
  const auto w = rounded_for(x, weight), b = rounded_for(x, bias);
  if (!goes_by_rows(x, spec)) {
    return torch::conv2d(x, w, b, spec.stride, spec.padding, 1, spec.groups);
  }
  return images_of(torch::conv2d(rows_of(x), w, b, spec.stride, spec.padding, 1, spec.groups), x);
}

void silu_of(torch::Tensor& x) {
  if (!has_loops(x) || x.requires_grad() || !x.is_non_overlapping_and_dense()) {
    torch::silu_(x);
    return;
  }
  with_number_of(x, [&]<class Number>() { silu(numbers<Number>(x), x.numel(), parallel_for); });
}

torch::Tensor conv_bn_silu(const torch::Tensor& x, const torch::Tensor& weight,
                           const ConvSpec& spec, const BatchNormTensors& bn, bool training,
                           Operators operators) {
  const bool fast = operators == Operators::fast;
  if (fast && training && has_loops(x)) {
    return FusedConvBnSilu::apply(x, weight, bn.gamma, bn.beta, spec, bn);
  }
  const auto map = fast ? convolve(x, weight, {}, spec)
                        : torch::conv2d(x, weight, {}, spec.stride, spec.padding, 1, spec.groups);
  // Of one value per channel the unbiased variance is NaN, and would stay it in the running one.
  const bool follows = !training || map.numel() > map.size(1);
  return torch::silu(torch::batch_norm(map, bn.gamma, bn.beta,
                                       follows ? bn.running_mean : torch::Tensor(),
                                       follows ? bn.running_var : torch::Tensor(), training,
                                       bn.momentum, bn.epsilon, /*cudnn_enabled=*/true));
}

}  // namespace evolve::trainer

#include "trainer/model/conv_bn_silu.hpp"

#include <torch/torch.h>

#include <cmath>
#include <vector>

#include "trainer/model/bn_silu.hpp"
#include "trainer/model/convolution.hpp"
#include "trainer/model/parallel.hpp"

namespace evolve::trainer {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

MapShape shape_of(const torch::Tensor& map) {
  return {map.numel() / map.size(1), map.size(1)};
}

/// Whether it is a map for the loops of bn_silu.hpp and for convolution().
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
  const auto follow = [&](float& running, double value) {
    running = static_cast<float>((1 - bn.momentum) * running + bn.momentum * value);
  };
  for (std::int64_t c = 0; c < shape.channels; ++c) {
    const double variance = deviation[c];
    if (shape.rows > 1) {  // one value has no variance
      follow(running_mean[c], mean[c]);
      follow(running_var[c], variance * (rows / (rows - 1)));
    }
    deviation[c] = 1 / std::sqrt(variance + bn.epsilon);
  }
  return statistics;
}

BatchNorm batch_norm_of(const torch::Tensor& gamma, const torch::Tensor& beta,
                        const torch::Tensor& statistics) {
  const double* mean = statistics.data_ptr<double>();
  return {gamma.data_ptr<float>(), beta.data_ptr<float>(), mean, mean + statistics.size(1)};
}

void save(AutogradContext& context, const ConvSpec& spec) {
  context.saved_data["spec"] = std::vector<std::int64_t>{spec.in,     spec.out,     spec.kernel,
                                                         spec.stride, spec.padding, spec.groups};
}

ConvSpec saved_spec(AutogradContext& context) {
  const auto saved = context.saved_data["spec"].toIntVector();
  const auto number = [&](std::size_t i) { return static_cast<int>(saved[i]); };
  return {number(0), number(1), number(2), number(3), number(4), number(5)};
}

/// convolution() for autograd.
class Convolution : public torch::autograd::Function<Convolution> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& weight, const torch::Tensor& bias,
                               const ConvSpec& spec) {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    context->save_for_backward({x, weight});
    save(*context, spec);
    return convolution(x, weight, bias, spec);
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto& gradient = gradients[0];
    const auto of = convolution_gradients(gradient, saved[0], saved[1], saved_spec(*context),
                                          context->needs_input_grad(0));
    return {of.x, of.weight, gradient.sum({0, 2, 3}, false, torch::kFloat), {}};
  }
};

/// The three operators as one for autograd, on the CPU, in the type of `x`: a weight in single
/// precision is rounded to it.
class FusedConvBnSilu : public torch::autograd::Function<FusedConvBnSilu> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& weight, const torch::Tensor& gamma,
                               const torch::Tensor& beta, const ConvSpec& spec,
                               const BatchNormTensors& bn) {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    const auto map = convolution(x, weight, {}, spec);
    const auto statistics = take_statistics(map, bn);
    context->save_for_backward({x, weight, gamma, beta, map, statistics});
    save(*context, spec);
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
    const auto gradient = gradients[0].contiguous(at::MemoryFormat::ChannelsLast);
    auto map_gradient = torch::empty_like(map);
    auto gamma_gradient = torch::empty_like(gamma), beta_gradient = torch::empty_like(beta);
    with_number_of(map, [&]<class Number>() {
      bn_silu_backward(numbers<Number>(map), numbers<Number>(gradient), shape_of(map),
                       batch_norm_of(gamma, beta, statistics), parallel_for,
                       numbers<Number>(map_gradient), gamma_gradient.data_ptr<float>(),
                       beta_gradient.data_ptr<float>());
    });
    const auto of = convolution_gradients(map_gradient, x, weight, saved_spec(*context),
                                          context->needs_input_grad(0));
    return {of.x, of.weight, gamma_gradient, beta_gradient, {}, {}};
  }
};

}  // namespace

torch::Tensor convolve(const torch::Tensor& x, const torch::Tensor& weight,
                       const torch::Tensor& bias, const ConvSpec& spec) {
  if (!has_loops(x))  // on a GPU autocast rounds the weight
    return torch::conv2d(x, weight, bias, spec.stride, spec.padding, 1, spec.groups);
  if (!at::GradMode::is_enabled()) return convolution(x, weight, bias, spec);
  // Autograd takes no undefined tensor.
  return Convolution::apply(x, weight, bias.defined() ? bias : torch::zeros(spec.out), spec);
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

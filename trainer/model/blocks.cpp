#include "trainer/model/blocks.hpp"

#include <torch/torch.h>

namespace evolve::trainer {
namespace {

torch::Tensor empty_weight(int out, int in, int kernel) {
  return torch::empty({out, in, kernel, kernel});
}

std::shared_ptr<ConvBlock> conv(int in, int out, int kernel = 1) {
  return std::make_shared<ConvBlock>(ConvSpec{in, out, kernel, 1, kernel / 2});
}

}  // namespace

ConvBlock::ConvBlock(const ConvSpec& conv_spec) : spec(conv_spec) {
  auto conv_module = register_module("conv", std::make_shared<torch::nn::Module>("Conv2d"));
  weight = conv_module->register_parameter(
      "weight", empty_weight(spec.out, spec.in / spec.groups, spec.kernel));
  auto bn_module = register_module("bn", std::make_shared<torch::nn::Module>("BatchNorm2d"));
  bn.gamma = bn_module->register_parameter("weight", torch::ones(spec.out));
  bn.beta = bn_module->register_parameter("bias", torch::zeros(spec.out));
  // A fresh YOLOv5 model has seen one black image, at momentum 0.1, to find its strides.
  bn.running_mean = bn_module->register_buffer("running_mean", torch::zeros(spec.out));
  bn.running_var = bn_module->register_buffer("running_var", torch::full(spec.out, 0.9));
  bn_module->register_buffer("num_batches_tracked", torch::ones({}, torch::kLong));
}

torch::Tensor ConvBlock::forward(const torch::Tensor& x) {
  if (fused_bias.defined()) {
    auto y = convolve(x, fused_weight, fused_bias, spec);
    if (operators == Operators::plain) return torch::silu_(y);
    silu_of(y);
    return y;
  }
  return conv_bn_silu(x, weight, spec, bn, is_training(), operators);
}

void ConvBlock::fuse() {
  torch::NoGradGuard no_grad;
  const auto scale = bn.gamma / torch::sqrt(bn.running_var + bn.epsilon);
  fused_weight = weight * scale.view({-1, 1, 1, 1});
  fused_bias = bn.beta - bn.running_mean * scale;
}

BottleneckBlock::BottleneckBlock(const BottleneckSpec& spec)
    : cv1(register_module("cv1", conv(spec.in, spec.hidden))),
      cv2(register_module("cv2", conv(spec.hidden, spec.out, 3))),
      add(spec.shortcut && spec.in == spec.out) {}

torch::Tensor BottleneckBlock::forward(const torch::Tensor& x) {
  auto y = cv2->forward(cv1->forward(x));
  return add ? x + y : y;
}

C3Block::C3Block(const C3Spec& spec) {
  const int hidden = spec.out / 2;
  cv1 = register_module("cv1", conv(spec.in, hidden));
  cv2 = register_module("cv2", conv(spec.in, hidden));
  cv3 = register_module("cv3", conv(2 * hidden, spec.out));
  auto chain = register_module("m", std::make_shared<torch::nn::Module>("Sequential"));
  for (int i = 0; i < spec.repeats; ++i) {
    bottlenecks.push_back(chain->register_module(
        std::to_string(i),
        std::make_shared<BottleneckBlock>(BottleneckSpec{hidden, hidden, hidden, spec.shortcut})));
  }
}

torch::Tensor C3Block::forward(const torch::Tensor& x) {
  auto y = cv1->forward(x);
  for (const auto& bottleneck : bottlenecks) y = bottleneck->forward(y);
  return cv3->forward(torch::cat({y, cv2->forward(x)}, 1));
}

SppfBlock::SppfBlock(const SppfSpec& spec)
    : cv1(register_module("cv1", conv(spec.in, spec.in / 2))),
      cv2(register_module("cv2", conv(spec.in / 2 * 4, spec.out))),
      kernel(spec.kernel) {}

torch::Tensor SppfBlock::forward(const torch::Tensor& x) {
  std::vector<torch::Tensor> pools{cv1->forward(x)};
  for (int i = 0; i < 3; ++i) {
    pools.push_back(torch::max_pool2d(pools.back(), kernel, 1, kernel / 2));
  }
  return cv2->forward(torch::cat(pools, 1));
}

DetectBlock::DetectBlock(const DetectSpec& spec, const ModelConfig& config) {
  auto list = register_module("m", std::make_shared<torch::nn::Module>("ModuleList"));
  const int out = config.anchors_per_level() * config.outputs();
  for (std::size_t level = 0; level < spec.in.size(); ++level) {
    auto head =
        list->register_module(std::to_string(level), std::make_shared<torch::nn::Module>("Conv2d"));
    weight.push_back(head->register_parameter("weight", empty_weight(out, spec.in[level], 1)));
    bias.push_back(head->register_parameter("bias", torch::empty(out)));
  }
}

torch::Tensor DetectBlock::forward(std::size_t level, const torch::Tensor& x) const {
  if (operators == Operators::plain) return torch::conv2d(x, weight[level], bias[level]);
  const ConvSpec spec{.in = static_cast<int>(weight[level].size(1)),
                      .out = static_cast<int>(weight[level].size(0))};
  // On the CPU in single precision whatever the maps before are in: boxes and confidences are not
  // rounded.
  return convolve(x.is_cpu() ? x.to(weight[level].scalar_type()) : x, weight[level], bias[level],
                  spec);
}

}  // namespace evolve::trainer

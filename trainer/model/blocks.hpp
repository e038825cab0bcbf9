// The building blocks of YOLOv5 v6, with its parameter names below each block (cv1.conv.weight,
// m.0.cv2.bn.bias).
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <memory>
#include <vector>

#include "trainer/model/conv_bn_silu.hpp"
#include "trainer/model/model_config.hpp"

namespace evolve::trainer {

/// A layer of one input. Tensors are [batch, channels, height, width], in channels-last memory
/// where the caller's are.
struct Block : torch::nn::Module {
  using torch::nn::Module::Module;
  virtual torch::Tensor forward(const torch::Tensor& x) = 0;
};

/// Convolution without bias, batch norm, SiLU. Its weights are made empty; a Detector draws them.
struct ConvBlock : Block {
  explicit ConvBlock(const ConvSpec& conv);
  torch::Tensor forward(const torch::Tensor& x) override;
  /// Folds the batch norm into the convolution: the same outputs in evaluation, no training any
  /// more.
  void fuse();

  ConvSpec spec;
  torch::Tensor weight;
  BatchNormTensors bn;
  Operators operators = Operators::fast;
  /// Of the folded convolution; undefined before fuse().
  torch::Tensor fused_weight, fused_bias;
};

/// Two Convs of the same width, the input added where shapes allow it and the table wants it.
struct BottleneckBlock : Block {
  explicit BottleneckBlock(const BottleneckSpec& spec);
  torch::Tensor forward(const torch::Tensor& x) override;

  std::shared_ptr<ConvBlock> cv1, cv2;
  bool add;
};

/// cv3(concat(bottlenecks(cv1(x)), cv2(x))).
struct C3Block : Block {
  explicit C3Block(const C3Spec& spec);
  torch::Tensor forward(const torch::Tensor& x) override;

  std::shared_ptr<ConvBlock> cv1, cv2, cv3;
  std::vector<std::shared_ptr<BottleneckBlock>> bottlenecks;
};

/// cv2(concat(y, pool(y), pool²(y), pool³(y))) of y = cv1(x).
struct SppfBlock : Block {
  explicit SppfBlock(const SppfSpec& spec);
  torch::Tensor forward(const torch::Tensor& x) override;

  std::shared_ptr<ConvBlock> cv1, cv2;
  int kernel;
};

/// The last layer's convolutions: per level [batch, anchors * (5 + nc), height, width].
struct DetectBlock : torch::nn::Module {
  DetectBlock(const DetectSpec& spec, const ModelConfig& config);
  torch::Tensor forward(std::size_t level, const torch::Tensor& x) const;

  std::vector<torch::Tensor> weight, bias;
  Operators operators = Operators::fast;
};

}  // namespace evolve::trainer

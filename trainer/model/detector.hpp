// The detector: YOLOv5 v6 as a torch module, with YOLOv5's names for every parameter and buffer.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "trainer/model/blocks.hpp"
#include "trainer/model/model_config.hpp"

namespace evolve::trainer {

/// What is added to a fresh Detect's biases, which are drawn like its weights: the log-odds of 8
/// objects in an image of 640 x 640 pixels, and of every class in an object being nearly as likely
/// (0.6 in all). Lin et al., Focal Loss for Dense Object Detection, section 3.3, with YOLOv5's
/// numbers.
double first_objectness(int stride);
double first_class(int nc);

class Detector : public torch::nn::Module {
 public:
  /// Fresh weights on the CPU as YOLOv5 starts them, drawn from `seed` alone: uniform in
  /// ±1/√fan_in.
  Detector(const ModelConfig& config, std::uint64_t seed);

  /// Raw maps, one per level: [batch, anchors, ny, nx, 5 + nc] for images [batch, 3, height,
  /// width], RGB in 0..1, whose sides are multiples of the greatest stride. Uses and updates batch
  /// statistics in train(), uses the running ones in eval(). `beat` is called after each layer,
  /// here and in the backward pass: one batch of a large model takes minutes on a CPU.
  std::vector<torch::Tensor> forward(
      const torch::Tensor& images, const std::function<void()>& beat = [] {});

  /// Boxes of all levels, [batch, sum of anchors * ny * nx, 5 + nc]: centre x, centre y, width,
  /// height in pixels, objectness, class probabilities. YOLOv5's Detect: xy = (2σ - 0.5 + cell) *
  /// stride, wh = (2σ)² * anchor.
  torch::Tensor decode(const std::vector<torch::Tensor>& maps) const;

  /// Folds every batch norm into its convolution, for evaluation only.
  void fuse();

  /// Computes with these operators from now on; with the fast ones until then.
  void use(Operators operators);

  const ModelConfig& config() const { return config_; }
  /// Pixels per cell of each level.
  const std::vector<int>& strides() const { return config_.strides; }
  /// [levels, anchors, 2] in cells of their level.
  const torch::Tensor& anchors() const { return anchors_; }
  /// [levels, anchors, 2]
  torch::Tensor anchors_in_pixels() const;
  /// Replaces the anchors: [levels, anchors, 2] in pixels.
  void set_anchors(const torch::Tensor& pixels);

 private:
  /// Adds layer `index` below `model` under its number.
  void add_layer(torch::nn::Module& model, std::size_t index);
  void draw_weights(std::uint64_t seed);
  /// The strides as [levels, 1, 1].
  torch::Tensor pixels_per_cell() const;

  ModelConfig config_;
  /// Per layer; none for Upsample, Concat and Detect.
  std::vector<std::vector<std::shared_ptr<Block>>> blocks_;
  std::shared_ptr<DetectBlock> detect_;
  /// Whether a layer's output is needed beyond the next layer.
  std::vector<bool> kept_;
  Operators operators_ = Operators::fast;
  torch::Tensor anchors_;
};

}  // namespace evolve::trainer

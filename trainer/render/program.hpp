// The program of tensor operators that renders a batch.
#pragma once

#include <torch/types.h>

#include "trainer/render/image_store.hpp"
#include "trainer/render/tables.hpp"

namespace evolve::trainer {

/// Renders batches on one device.
class Renderer {
 public:
  explicit Renderer(ImageStore store);

  const ImageStore& store() const { return store_; }

  /// The images of a batch: [samples, 3, height, width] in 0..1, channels-last. `bytes`: where
  /// tables.write() has written, on the device. Waits for nothing. It is what OpenCV
  /// 4.6 to 4.10 computes (warpAffine and warpPerspective to 1/32 pixel, 8-bit HSV) to the last
  /// bit, but for the way back from HSV, where floats of OpenCV's and of a device may come to lie
  /// on both sides of an integer: one number in 14,000 is off by 1.
  torch::Tensor render(const RenderTables& tables, const torch::Tensor& bytes) const;

 private:
  /// Interpolated pixels of every layer: [layers, height, width, 3] in 0..255.
  torch::Tensor layers(const RenderTables& tables, const RenderTensors& in) const;
  /// The colours of [samples, height, width, 3] in 0..255 changed.
  torch::Tensor recoloured(const torch::Tensor& rgb, const RenderTensors& in) const;

  ImageStore store_;
  /// 32 and 0: what the weights of the two pixels between which one is interpolated are counted
  /// from.
  torch::Tensor weights_from_;
  /// [6]: the channels whose difference is the hue where red, green or blue is greatest: the first
  /// three less the last three.
  torch::Tensor others_;
  /// [256]: 180 * 4096 / (6 * i) and 255 * 4096 / i. [3]: 0, 2, 4. One integer: 2048.
  torch::Tensor hue_per_chroma_, saturation_per_chroma_, sectors_, half_;
  /// [3]: what hue, saturation and value are multiplied by: a sector, and all there is, become 1.
  torch::Tensor units_;
  /// [6, 2, 3]: by a hue's sector, how much of the saturation is taken from red, green and blue: a
  /// first number, and one times the hue's place in its sector.
  torch::Tensor taken_;
};

}  // namespace evolve::trainer

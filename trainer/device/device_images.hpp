// The images of a training on its device, as far as they fit there.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "trainer/data/batch.hpp"
#include "trainer/render/render.hpp"

namespace evolve::trainer {

/// How many bytes of a device's memory images may fill: a quarter of what is free; 1 GiB where
/// libtorch does not tell (free_memory_bytes()). None on a CPU, where OpenCV is faster.
std::int64_t image_budget(const torch::Device& device);

struct DeviceImages {
  /// Renders training batches there; absent where the images stay on the host.
  std::optional<Renderer> training;
  /// Of each batch of the validation set, [batch, 3, height, width] of uint8; empty where they stay
  /// on the host.
  std::vector<torch::Tensor> validation;
};

/// Copies the training images to the device, then those of the validation, each only if all of
/// them fit into what is left of `budget` bytes and of the device's memory, the training images, on
/// an XPU, into 3.5 GiB besides; else a line on standard error says so. `beat` is called all the
/// time.
DeviceImages device_images(const data::Dataset& training, const data::ValidationSet& validation,
                           const torch::Device& device, std::int64_t budget,
                           const std::function<void()>& beat);

}  // namespace evolve::trainer

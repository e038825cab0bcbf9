// Images as tensors.
#pragma once

#include <torch/types.h>

#include "trainer/data/batch.hpp"

namespace evolve::trainer {

/// The images of a batch as a detector takes them: [batch, 3, height, width] in 0..1,
/// channels-last, on `device`.
torch::Tensor images_of(const data::Batch& batch, const torch::Device& device);

}  // namespace evolve::trainer

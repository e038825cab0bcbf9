// Batches on their way to the device.
#pragma once

#include <torch/types.h>

#include "trainer/data/batch.hpp"
#include "trainer/loss/matches.hpp"

namespace evolve::trainer {

/// A batch in one piece of the host's memory, ready to be copied. Batch workers make it.
struct StagedBatch {
  /// Without its pixels.
  data::Batch batch;
  Matches matches;
  /// uint8: the pixels, and from the next multiple of 64 on the matches.
  torch::Tensor bytes;
};
StagedBatch staged(data::Batch batch, Matches matches, const torch::Device& device);

/// A batch as a detector and its loss take it.
struct DeviceBatch {
  /// [batch, 3, height, width] in 0..1, channels-last.
  torch::Tensor images;
  MatchTensors matches;
};
/// One copy, for which the host does not wait.
DeviceBatch on_device(const StagedBatch& staged, const torch::Device& device);

/// The images of a batch alone.
torch::Tensor images_of(const data::Batch& batch, const torch::Device& device);

}  // namespace evolve::trainer

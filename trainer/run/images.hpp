// Batches on their way to the device.
#pragma once

#include <torch/types.h>

#include "trainer/data/batch.hpp"
#include "trainer/loss/matches.hpp"
#include "trainer/render/render.hpp"

namespace evolve::trainer {

/// A batch in one piece of the host's memory, ready to be copied. Batch workers make it.
struct StagedBatch {
  /// Without its pixels.
  data::Batch batch;
  Matches matches;
  /// uint8: the pixels or what renders them, and from the next multiple of 64 on the matches.
  torch::Tensor bytes;
  /// Where the pixels come from if they are not among the bytes: a renderer on the device, or a
  /// batch that lies there, as the bytes would have it.
  const Renderer* renderer = nullptr;
  RenderTables tables = {};
  torch::Tensor stored = {};
};
/// The pixels travel with the batch.
StagedBatch staged(data::Batch batch, Matches matches, const torch::Device& device);
/// The device renders them.
StagedBatch staged(data::Batch batch, Matches matches, const Renderer& renderer,
                   RenderTables tables);
/// They lie there: [batch, 3, height, width] of uint8.
StagedBatch staged(data::Batch batch, Matches matches, torch::Tensor stored);

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

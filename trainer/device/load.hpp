// Batches on their way to the device.
#pragma once

#include <torch/types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trainer/data/batch.hpp"
#include "trainer/loss/matches.hpp"
#include "trainer/render/render.hpp"

namespace evolve::trainer {

/// A batch as batch workers make it, and how the device comes by its pixels: they travel, or a
/// renderer makes them there, or they lie there as `stored`: [batch, 3, height, width] of uint8.
struct HostBatch {
  data::Batch batch;
  Matches matches;
  const Renderer* renderer = nullptr;
  std::vector<RenderTables> tables = {};
  torch::Tensor stored = {};
};

/// Batches in one piece of memory.
struct Load {
  /// Without their pixels.
  std::vector<HostBatch> batches;
  /// uint8: of each batch the pixels or what renders them, and from the next multiple of 64 on the
  /// matches.
  torch::Tensor bytes;
  /// Where a batch begins in it.
  std::vector<std::int64_t> begins;
};

/// The batches in the host's memory, ready to be copied. Batch workers call it.
Load staged(std::vector<HostBatch> batches, const torch::Device& device);
/// The load on the device: one copy, for which the host does not wait.
Load sent(Load load, const torch::Device& device);

/// A batch as a detector and its loss take it.
struct DeviceBatch {
  /// [batch, 3, height, width] in 0..1, channels-last.
  torch::Tensor images;
  MatchTensors matches;
};
/// Batch `i` of a load that has been sent.
DeviceBatch on_device(const Load& load, std::size_t i = 0);

/// The images of a batch alone.
torch::Tensor images_of(const data::Batch& batch, const torch::Device& device);

}  // namespace evolve::trainer

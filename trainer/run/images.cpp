#include "trainer/run/images.hpp"

#include <torch/torch.h>

namespace evolve::trainer {

torch::Tensor images_of(const data::Batch& batch, const torch::Device& device) {
  const auto pixels = torch::from_blob(const_cast<std::uint8_t*>(batch.pixels.data()),
                                       {batch.size, 3, batch.height, batch.width}, torch::kByte);
  // From pinned memory the copy goes on while the next batch is prepared.
  return (device.is_cuda() ? pixels.pin_memory() : pixels)
      .to(device, /*non_blocking=*/device.is_cuda())
      .to(torch::kFloat, /*non_blocking=*/false, /*copy=*/false, at::MemoryFormat::ChannelsLast)
      .div_(255);
}

}  // namespace evolve::trainer

#include "trainer/run/images.hpp"

#include <torch/torch.h>

#include <cstring>
#include <utility>

#include "trainer/run/torch_version.hpp"

namespace evolve::trainer {
namespace {

std::int64_t pixels_in(const data::Batch& batch) {
  return std::int64_t{3} * batch.size * batch.height * batch.width;
}

/// Where the matches begin.
std::int64_t end_of_pixels(const data::Batch& batch) {
  constexpr std::int64_t alignment = 64;
  return (pixels_in(batch) + alignment - 1) / alignment * alignment;
}

}  // namespace

StagedBatch staged(data::Batch batch, Matches matches, const torch::Device& device) {
  const auto begin = end_of_pixels(batch);
  auto bytes = staging_memory(begin + matches.bytes(), device);
  auto* to = static_cast<std::byte*>(bytes.data_ptr());
  std::memcpy(to, batch.pixels.data(), batch.pixels.size());
  matches.write(to + begin);
  batch.pixels = {};
  return {std::move(batch), std::move(matches), std::move(bytes)};
}

DeviceBatch on_device(const StagedBatch& staged, const torch::Device& device) {
  const auto& batch = staged.batch;
  const auto bytes = staged.bytes.to(device, /*non_blocking=*/true);
  const auto pixels = bytes.narrow(0, 0, pixels_in(batch));
  const auto begin = end_of_pixels(batch);
  return {
      pixels.view({batch.size, 3, batch.height, batch.width})
          .to(torch::kFloat, /*non_blocking=*/false, /*copy=*/false, at::MemoryFormat::ChannelsLast)
          .div_(255),
      tensors_of(staged.matches, bytes.narrow(0, begin, bytes.size(0) - begin))};
}

torch::Tensor images_of(const data::Batch& batch, const torch::Device& device) {
  return on_device(staged(batch, {}, device), device).images;
}

}  // namespace evolve::trainer

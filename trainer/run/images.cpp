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

/// Where the matches begin, after so many bytes.
std::int64_t aligned(std::int64_t bytes) {
  constexpr std::int64_t alignment = 64;
  return (bytes + alignment - 1) / alignment * alignment;
}

/// Where they begin in a batch.
std::int64_t begin_of_matches(const StagedBatch& staged) {
  return staged.bytes.size(0) - staged.matches.bytes();
}

/// Page-locked memory for so many bytes and the matches, which are written to its end.
torch::Tensor staging_bytes(std::int64_t bytes, const Matches& matches,
                            const torch::Device& device) {
  const auto begin = aligned(bytes);
  auto memory = staging_memory(begin + matches.bytes(), device);
  matches.write(static_cast<std::byte*>(memory.data_ptr()) + begin);
  return memory;
}

torch::Tensor normalised(const torch::Tensor& pixels) {
  return pixels
      .to(torch::kFloat, /*non_blocking=*/false, /*copy=*/false, at::MemoryFormat::ChannelsLast)
      .div_(255);
}

torch::Tensor images_in(const StagedBatch& staged, const torch::Tensor& bytes) {
  if (staged.renderer) return staged.renderer->render(staged.tables, bytes);
  if (staged.stored.defined()) return normalised(staged.stored);
  const auto& batch = staged.batch;
  return normalised(
      bytes.narrow(0, 0, pixels_in(batch)).view({batch.size, 3, batch.height, batch.width}));
}

}  // namespace

StagedBatch staged(data::Batch batch, Matches matches, const torch::Device& device) {
  auto bytes = staging_bytes(pixels_in(batch), matches, device);
  std::memcpy(bytes.data_ptr(), batch.pixels.data(), batch.pixels.size());
  batch.pixels = {};
  return {std::move(batch), std::move(matches), std::move(bytes)};
}

StagedBatch staged(data::Batch batch, Matches matches, const Renderer& renderer,
                   RenderTables tables) {
  auto bytes = staging_bytes(tables.bytes(), matches, renderer.store().pixels.device());
  tables.write(static_cast<std::byte*>(bytes.data_ptr()));
  return {std::move(batch), std::move(matches), std::move(bytes), &renderer, std::move(tables)};
}

StagedBatch staged(data::Batch batch, Matches matches, torch::Tensor stored) {
  auto bytes = staging_bytes(0, matches, stored.device());
  return {.batch = std::move(batch),
          .matches = std::move(matches),
          .bytes = std::move(bytes),
          .stored = std::move(stored)};
}

DeviceBatch on_device(const StagedBatch& staged, const torch::Device& device) {
  const auto bytes = staged.bytes.to(device, /*non_blocking=*/true);
  const auto begin = begin_of_matches(staged);
  return {images_in(staged, bytes),
          tensors_of(staged.matches, bytes.narrow(0, begin, bytes.size(0) - begin))};
}

torch::Tensor images_of(const data::Batch& batch, const torch::Device& device) {
  return on_device(staged(batch, {}, device), device).images;
}

}  // namespace evolve::trainer

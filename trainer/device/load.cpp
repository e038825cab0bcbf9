#include "trainer/device/load.hpp"

#include <torch/torch.h>

#include <cstring>
#include <utility>

#include "trainer/device/torch_version.hpp"

namespace evolve::trainer {
namespace {

std::int64_t pixels_in(const data::Batch& batch) {
  return std::int64_t{3} * batch.size * batch.height * batch.width;
}

/// The next multiple of 64.
std::int64_t aligned(std::int64_t bytes) {
  constexpr std::int64_t alignment = 64;
  return (bytes + alignment - 1) / alignment * alignment;
}

/// What a batch's pixels, or what renders them, take of a load.
std::int64_t image_bytes(const HostBatch& batch) {
  if (batch.renderer) {
    std::int64_t sum = 0;
    for (const RenderTables& tables : batch.tables) sum += aligned(tables.bytes());
    return sum;
  }
  return batch.stored.defined() ? 0 : pixels_in(batch.batch);
}

void write_images(const HostBatch& batch, std::byte* to) {
  for (const RenderTables& tables : batch.tables) {
    tables.write(to);
    to += aligned(tables.bytes());
  }
  if (!batch.batch.pixels.empty())
    std::memcpy(to, batch.batch.pixels.data(), batch.batch.pixels.size());
}

torch::Tensor rendered(const HostBatch& batch, torch::Tensor bytes) {
  std::vector<torch::Tensor> parts;
  for (const RenderTables& tables : batch.tables) {
    parts.push_back(batch.renderer->render(tables, bytes));
    bytes = bytes.slice(0, aligned(tables.bytes()));
  }
  return parts.size() == 1 ? parts.front() : torch::cat(parts);
}

torch::Tensor normalised(const torch::Tensor& pixels) {
  return pixels
      .to(torch::kFloat, /*non_blocking=*/false, /*copy=*/false, at::MemoryFormat::ChannelsLast)
      .div_(255);
}

/// `bytes`: those of the load, from where the batch's begin.
torch::Tensor images_in(const HostBatch& batch, const torch::Tensor& bytes) {
  if (batch.renderer) return rendered(batch, bytes);
  if (batch.stored.defined()) return normalised(batch.stored);
  const auto& made = batch.batch;
  return normalised(
      bytes.narrow(0, 0, pixels_in(made)).view({made.size, 3, made.height, made.width}));
}

}  // namespace

Load staged(std::vector<HostBatch> batches, const torch::Device& device) {
  Load load;
  std::int64_t end = 0;
  for (const HostBatch& batch : batches) {
    load.begins.push_back(end);
    end += aligned(image_bytes(batch)) + aligned(batch.matches.bytes());
  }
  load.bytes = staging_memory(end, device);
  for (std::size_t i = 0; i < batches.size(); ++i) {
    auto* const to = static_cast<std::byte*>(load.bytes.data_ptr()) + load.begins[i];
    write_images(batches[i], to);
    batches[i].matches.write(to + aligned(image_bytes(batches[i])));
    batches[i].batch.pixels = {};
  }
  load.batches = std::move(batches);
  return load;
}

Load sent(Load load, const torch::Device& device) {
  load.bytes = load.bytes.to(device, /*non_blocking=*/true);
  return load;
}

DeviceBatch on_device(const Load& load, std::size_t i) {
  const HostBatch& batch = load.batches[i];
  const auto bytes = load.bytes.slice(0, load.begins[i]);
  return {images_in(batch, bytes),
          tensors_of(batch.matches, bytes.slice(0, aligned(image_bytes(batch))))};
}

torch::Tensor images_of(const data::Batch& batch, const torch::Device& device) {
  return on_device(sent(staged({{.batch = batch}}, device), device)).images;
}

}  // namespace evolve::trainer

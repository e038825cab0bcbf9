#include "trainer/device/device_images.hpp"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <limits>

#include "trainer/device/torch_version.hpp"

namespace evolve::trainer {
namespace {

/// Whether images fit into the budget, and into `most` bytes; then they are taken from the budget.
bool take(const char* what, std::int64_t bytes, const torch::Device& device, std::int64_t& budget,
          std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
  if (bytes <= std::min(budget, most)) {
    budget -= bytes;
    return true;
  }
  if (!device.is_cpu()) {
    fmt::print(stderr, "{} images stay on the host: they are {} bytes, {} has room for {}\n", what,
               bytes, device.str(), std::min(budget, most));
  }
  return false;
}

std::int64_t bytes_of(const data::ValidationSet& set) {
  std::int64_t bytes = 0;
  for (const data::BatchPlan& plan : set.batches)
    bytes += std::int64_t{3} * std::ssize(plan.images) * plan.height * plan.width;
  return bytes;
}

/// How many bytes one tensor may have there. Drivers of Intel's Alchemist cards (Arc A) refuse a
/// single allocation of 4 GiB, in words of their own; an eighth less leaves room for what
/// allocators round up to.
std::int64_t greatest_tensor(const torch::Device& device) {
  constexpr std::int64_t gib = std::int64_t{1} << 30;
  return device.is_xpu() ? 4 * gib - gib / 2 : std::numeric_limits<std::int64_t>::max();
}

/// Whether there still was memory to store them in.
bool succeeds(const std::function<void()>& store, const char* what, const torch::Device& device) {
  try {
    store();
    return true;
  } catch (const c10::OutOfMemoryError&) {
    // In other words than those that evolve takes for a trial's end for want of memory
    // (workers/protocol/text.cpp): training goes on, and what ends it later has reasons of its own.
    fmt::print(stderr, "{} images stay on the host: {} has no room for them any more\n", what,
               device.str());
    return false;
  }
}

torch::Tensor stored(data::Batch batch, const torch::Device& device) {
  return torch::from_blob(batch.pixels.data(), {batch.size, 3, batch.height, batch.width},
                          torch::kByte)
      .to(device, torch::kByte, /*non_blocking=*/false, /*copy=*/true);
}

}  // namespace

std::int64_t image_budget(const torch::Device& device) {
  if (device.is_cpu()) return 0;
  constexpr std::int64_t unknown = std::int64_t{4} << 30;
  return free_memory_bytes(device).value_or(unknown) / 4;
}

DeviceImages device_images(const data::Dataset& training, const data::ValidationSet& validation,
                           const torch::Device& device, std::int64_t budget,
                           const std::function<void()>& beat) {
  DeviceImages images;
  // They are one tensor, while each batch of the validation has one.
  if (take("training", store_bytes(training), device, budget, greatest_tensor(device)))
    succeeds([&] { images.training.emplace(store_images(training, device, beat)); }, "training",
             device);
  const auto store_validation = [&] {
    for (const data::BatchPlan& plan : validation.batches) {
      images.validation.push_back(stored(data::validation_batch(validation.dataset, plan), device));
      beat();
    }
  };
  if (take("validation", bytes_of(validation), device, budget) &&
      !succeeds(store_validation, "validation", device))
    images.validation.clear();
  return images;
}

}  // namespace evolve::trainer

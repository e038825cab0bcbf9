#include "trainer/device/torch_version.hpp"

#include <ATen/autocast_mode.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <torch/torch.h>
#include <torch/version.h>

#include <cstdlib>

#define EVOLVE_TORCH_AT_LEAST(major, minor) \
  (TORCH_VERSION_MAJOR > (major) ||         \
   (TORCH_VERSION_MAJOR == (major) && TORCH_VERSION_MINOR >= (minor)))

#if EVOLVE_TORCH_AT_LEAST(2, 9)
#include <c10/core/CachingDeviceAllocator.h>
#endif

namespace evolve::trainer {
namespace {

void set_autocast(const torch::Device& device, bool enabled, torch::ScalarType type) {
#if EVOLVE_TORCH_AT_LEAST(2, 4)
  at::autocast::set_autocast_enabled(device.type(), enabled);
  if (enabled) at::autocast::set_autocast_dtype(device.type(), type);
#else
  TORCH_CHECK(device.is_cpu() || device.is_cuda(), "mixed precision on ", device,
              " needs libtorch 2.4");
  if (device.is_cpu()) {
    at::autocast::set_cpu_enabled(enabled);
    if (enabled) at::autocast::set_autocast_cpu_dtype(type);
  } else {
    at::autocast::set_enabled(enabled);
    if (enabled) at::autocast::set_autocast_gpu_dtype(type);
  }
#endif
}

}  // namespace

void make_repeatable() {
  // cuBLAS reads it when it is opened. Without it two streams may share a workspace.
  setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*replace=*/0);
  // CUDA reads it when it starts. From 12.2 on it is the default; CUDA 11.7 to 12.1 would load
  // every kernel of libtorch at once, which takes seconds and hundreds of MB of each worker's card.
  setenv("CUDA_MODULE_LOADING", "LAZY", /*replace=*/0);
  auto& context = at::globalContext();
  context.setDeterministicAlgorithms(true, /*warn_only=*/true);
  context.setDeterministicCuDNN(true);
  context.setBenchmarkCuDNN(false);
  context.setAllowTF32CuDNN(false);
  context.setAllowTF32CuBLAS(false);
#if EVOLVE_TORCH_AT_LEAST(2, 2)
  // Deterministic operators would fill what torch::empty() gives: nothing here reads it.
  context.setDeterministicFillUninitializedMemory(false);
#endif
#if EVOLVE_TORCH_AT_LEAST(2, 8)
  context.setDeterministicMkldnn(true);
#endif
}

void bound_xpu_memory([[maybe_unused]] void* library) {
#if EVOLVE_TORCH_AT_LEAST(2, 10)
  // c10::xpu::XPUCachingAllocator::setMemoryFraction(double, c10::DeviceIndex): its header needs
  // SYCL's. It is in a library that this one stands on.
  using SetMemoryFraction = void (*)(double, c10::DeviceIndex);
  const auto set = reinterpret_cast<SetMemoryFraction>(
      dlsym(library, "_ZN3c103xpu19XPUCachingAllocator17setMemoryFractionEda"));
  if (set) {
    if (c10::impl::getDeviceGuardImpl(torch::kXPU)->deviceCount() == 0) return;
    at::globalContext().lazyInitDevice(torch::kXPU);  // which makes the allocator
    set(1, 0);
    return;
  }
#endif
  fmt::print(stderr,
             "libtorch " TORCH_VERSION
             " sets no bound to an XPU's memory (2.10 does): too large an allocation may cost the "
             "device, not only the trial\n");
}

torch::Tensor staging_memory(std::int64_t bytes, const torch::Device& device) {
  const auto options = torch::TensorOptions(torch::kByte);
  if (device.is_cpu()) return torch::empty(bytes, options);
#if EVOLVE_TORCH_AT_LEAST(2, 6)
  return torch::empty(bytes, options.pinned_memory(true));
#else
  return torch::empty(bytes, options).pin_memory(device);
#endif
}

void synchronize(const torch::Device& device) {
  if (device.is_cpu()) return;
  const auto* guard = c10::impl::getDeviceGuardImpl(device.type());
  guard->synchronizeStream(guard->getStream(device));
}

std::int64_t memory_bytes(const torch::Device& device) {
#if EVOLVE_TORCH_AT_LEAST(2, 9)
  if (!device.is_cuda() && !device.is_xpu()) return 0;
  constexpr std::size_t all_pools = 0;
  try {
    const auto stats = c10::getDeviceAllocator(device.type())->getDeviceStats(device.index());
    return stats.reserved_bytes[all_pools].current;
  } catch (const c10::Error&) {  // ROCm's may be none that tells
    return 0;
  }
#else
  static_cast<void>(device);
  return 0;
#endif
}

std::optional<std::int64_t> free_memory_bytes(const torch::Device& device) {
#if EVOLVE_TORCH_AT_LEAST(2, 10)
  if (!device.is_cuda() && !device.is_xpu()) return {};
  try {
    return static_cast<std::int64_t>(
        c10::getDeviceAllocator(device.type())->getMemoryInfo(device.index()).first);
  } catch (const c10::Error&) {  // Intel's integrated GPUs do not tell
    return {};
  }
#else
  if (!device.is_cuda()) return {};
  // The runtime's: its headers are not needed to build. libtorch_cuda or libtorch_hip has opened
  // it.
  using GetInfo = int (*)(std::size_t * free, std::size_t * total);
  for (const char* name : {"cudaMemGetInfo", "hipMemGetInfo"}) {
    const auto get_info = reinterpret_cast<GetInfo>(dlsym(RTLD_DEFAULT, name));
    std::size_t free = 0, total = 0;
    if (get_info && get_info(&free, &total) == 0) return static_cast<std::int64_t>(free);
  }
  return {};
#endif
}

Autocast::Autocast(const torch::Device& device, torch::ScalarType type)
    : device_(device), active_(type != torch::kFloat) {
  if (!active_) return;
  at::autocast::increment_nesting();
  set_autocast(device_, true, type);
}

Autocast::~Autocast() {
  if (!active_) return;
  set_autocast(device_, false, torch::kFloat);
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
}

}  // namespace evolve::trainer

#include "trainer/run/torch_version.hpp"

#include <ATen/autocast_mode.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/cuda.h>
#include <torch/torch.h>
#include <torch/version.h>

#include "core/error.hpp"
#include "trainer/run/trainer.hpp"

#define EVOLVE_TORCH_AT_LEAST(major, minor) \
  (TORCH_VERSION_MAJOR > (major) ||         \
   (TORCH_VERSION_MAJOR == (major) && TORCH_VERSION_MINOR >= (minor)))

#if __has_include(<torch/xpu.h>)
#include <torch/xpu.h>
#endif
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

std::vector<std::string> device_kinds() {
  std::vector<std::string> kinds;
  for (const auto type : {c10::DeviceType::CPU, c10::DeviceType::CUDA, c10::DeviceType::XPU})
    if (c10::impl::hasDeviceGuardImpl(type))
      kinds.push_back(c10::DeviceTypeName(type, /*lower_case=*/true));
  return kinds;
}

torch::Device open_device(const std::string& name) {
  const torch::Device device(name);
  if (!c10::impl::hasDeviceGuardImpl(device.type()))
    throw run_failed(name + ": libtorch " TORCH_VERSION " was built without such devices",
                     "build with one that has them (docs/libtorch.md)");
  if (c10::impl::getDeviceGuardImpl(device.type())->deviceCount() == 0)
    throw run_failed(name + ": libtorch sees no such device", "check its driver");
  return device;
}

void synchronize(const torch::Device& device) {
  if (device.is_cuda()) torch::cuda::synchronize(device.index());
#if __has_include(<torch/xpu.h>)
  if (device.is_xpu()) torch::xpu::synchronize(device.index());
#endif
}

std::int64_t memory_bytes(const torch::Device& device) {
  if (device.is_cpu()) return 0;
#if EVOLVE_TORCH_AT_LEAST(2, 9)
  constexpr std::size_t all_pools = 0;
  const auto stats = c10::getDeviceAllocator(device.type())->getDeviceStats(device.index());
  return stats.reserved_bytes[all_pools].current;
#else
  return 0;
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

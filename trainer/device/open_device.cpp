#include "trainer/device/open_device.hpp"

#include <ATen/Context.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <torch/version.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "core/device_kind.hpp"
#include "core/error.hpp"
#include "trainer/device/device_kinds.hpp"
#include "trainer/device/torch_version.hpp"

namespace evolve::trainer {
namespace {

/// A kind of device that a library beside libtorch_cpu brings.
struct Backend {
  const char* kind;
  /// What stands for "cpu" in the name of its library.
  const char* library;
  c10::DeviceType type;
};
constexpr std::array<Backend, 3> backends = {{{"cuda", "cuda", c10::DeviceType::CUDA},
                                              {"hip", "hip", c10::DeviceType::CUDA},
                                              {"xpu", "xpu", c10::DeviceType::XPU}}};

/// libtorch_cuda.so for libtorch_cpu.so, libtorch_cuda.so.2.6 for Debian's libtorch_cpu.so.2.6.
std::filesystem::path library_of(const Backend& backend) {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&at::globalContext), &info) == 0) return {};
  const std::filesystem::path cpu = info.dli_fname;
  std::string name = cpu.filename();
  const auto place = name.find("_cpu");
  if (place == name.npos) return {};
  return cpu.parent_path() / name.replace(place + 1, 3, backend.library);
}

void open(const Backend& backend, const std::string& device) {
  const auto library = library_of(backend);
  if (!std::filesystem::exists(library)) return;
  // What it opens itself later must find its symbols.
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!handle) {
    throw run_failed(device + ": " + dlerror(),
                     "install what this build of torch needs (docs/libtorch.md)");
  }
  if (backend.type == c10::DeviceType::XPU) bound_xpu_memory(handle);
}

}  // namespace

std::vector<std::string> device_kinds() {
  std::vector<std::string> kinds = {"cpu"};
  for (const Backend& backend : backends) {
    if (std::filesystem::exists(library_of(backend))) kinds.emplace_back(backend.kind);
  }
  return kinds;
}

torch::Device open_device(const std::string& name) {
  const auto* backend = std::ranges::find(backends, core::kind_of(name), &Backend::kind);
  const bool known = backend != backends.end();
  torch::Device device(name);
  if (known) {
    device = {backend->type, std::max<c10::DeviceIndex>(device.index(), 0)};
    make_repeatable();
    open(*backend, name);
  }
  if (!c10::impl::hasDeviceGuardImpl(device.type()))
    throw run_failed(name + ": libtorch " TORCH_VERSION " was built without such devices",
                     "build with one that has them (docs/libtorch.md)");
  const auto count = c10::impl::getDeviceGuardImpl(device.type())->deviceCount();
  if (count == 0) throw run_failed(name + ": libtorch sees no such device", "check its driver");
  // Number 0 would then be the same one in every slot, and in every rank of a group.
  if (count > 1)
    throw run_failed(fmt::format("{}: libtorch sees {} such devices, a slot has one", name, count),
                     "check what hides the others (evolve devices --json: mask)");
  return device;
}

}  // namespace evolve::trainer

// Page-locked memory of the host beside the simulated accelerator, and how torch asks for it.

#include <ATen/EmptyTensor.h>
#include <torch/library.h>
#include <torch/torch.h>

#include <cstdlib>

#include "tests/trainer/accelerator/card_log.hpp"
#include "tests/trainer/accelerator/simulated_accelerator.hpp"
#include "tests/trainer/accelerator/torch_at_least.hpp"

#if TORCH_AT_LEAST(2, 5)
#include <ATen/detail/XPUHooksInterface.h>
#endif

namespace evolve::test {
namespace {

struct PinnedAllocator final : c10::Allocator {
#if TORCH_AT_LEAST(2, 3)
  c10::DataPtr allocate(std::size_t bytes) override {
    return allocated(bytes);
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }
#else
  c10::DataPtr allocate(std::size_t bytes) const override {
    return allocated(bytes);
  }
#endif
  c10::DeleterFnPtr raw_deleter() const override {
    return &release;
  }

 private:
  static void release(void* address) {
    unpin(address);
    std::free(address);
  }
  static c10::DataPtr allocated(std::size_t bytes) {
    void* address = std::malloc(bytes + 1);
    pin(address);
    return {address, address, &release, torch::kCPU};
  }
};
PinnedAllocator pinned_allocator;

#if TORCH_AT_LEAST(2, 5)
struct XPUHooks final : at::XPUHooksInterface {
  /// torch 2.6 hands over arguments that say nothing, later ones do not.
  template <typename... Arguments>
  explicit XPUHooks(Arguments&&...) {}
  void init() const override {}
  bool hasXPU() const override { return true; }
  c10::DeviceIndex getNumGPUs() const override { return 1; }
  c10::DeviceIndex current_device() const override { return 0; }
  /// torch::manual_seed() sets it, too; nothing draws from it.
  const at::Generator& getDefaultGenerator(c10::DeviceIndex) const override {
    return at::detail::getDefaultCPUGenerator();
  }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  c10::DeviceIndex deviceCount() const override { return 1; }
  c10::DeviceIndex getCurrentDevice() const override { return 0; }
  bool isPinnedPtr(const void* address) const override { return is_pinned_address(address); }
  c10::Allocator* getPinnedMemoryAllocator() const override { return &pinned_allocator; }
  // Later than 2.6 these override, too.
  bool isBuilt() const { return true; }
  bool isAvailable() const { return true; }
};
using at::RegistererXPUHooksRegistry;
using at::XPUHooksRegistry;
REGISTER_XPU_HOOKS(XPUHooks)
#else
torch::Tensor pin_memory(const torch::Tensor& tensor, c10::optional<torch::Device>) {
  torch::Tensor pinned = at::detail::empty_generic(tensor.sizes(), &pinned_allocator,
                                                   c10::DispatchKeySet(c10::DispatchKey::CPU),
                                                   tensor.scalar_type(), c10::nullopt);
  return pinned.copy_(tensor);
}
bool is_pinned(const torch::Tensor& tensor, c10::optional<torch::Device>) {
  return is_pinned_address(tensor.storage().data());
}

TORCH_LIBRARY_IMPL(aten, XPU, library) {
  library.impl("_pin_memory", &pin_memory);
  library.impl("is_pinned", &is_pinned);
}
#endif

}  // namespace
}  // namespace evolve::test

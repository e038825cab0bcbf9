#include "tests/trainer/accelerator/simulated_accelerator.hpp"

#include <ATen/EmptyTensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>
#include <torch/torch.h>

#include <atomic>
#include <limits>

#include "tests/trainer/accelerator/card_log.hpp"
#include "tests/trainer/accelerator/simulated_memory.hpp"
#include "tests/trainer/accelerator/torch_at_least.hpp"

#if TORCH_AT_LEAST(2, 9)
#include <c10/core/CachingDeviceAllocator.h>
#endif

namespace evolve::test {
namespace {

constexpr auto card_type = torch::DeviceType::XPU;
constexpr auto card_key = c10::DispatchKey::XPU;

SimulatedMemory& memory() {
  static SimulatedMemory bytes(std::size_t{8} << 30);
  return bytes;
}

// ---- memory

std::atomic<std::size_t> greatest_allocation = std::numeric_limits<std::size_t>::max();

#if TORCH_AT_LEAST(2, 9)
struct DeviceAllocator : c10::DeviceAllocator {
  bool initialized() override { return true; }
  void emptyCache(c10::MempoolId_t) override {}
  void recordStream(const c10::DataPtr&, c10::Stream) override {}
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex) override {
    c10::CachingDeviceAllocator::DeviceStats stats;
    constexpr std::size_t all_pools = 0;
    stats.reserved_bytes[all_pools].current = static_cast<std::int64_t>(memory().reserved());
    return stats;
  }
  void resetAccumulatedStats(c10::DeviceIndex) override {}
  void resetPeakStats(c10::DeviceIndex) override {}
  // From 2.10 on it overrides.
  std::pair<std::size_t, std::size_t> getMemoryInfo(c10::DeviceIndex) {
    return {memory().size() - memory().reserved(), memory().size()};
  }
};
#else
using DeviceAllocator = c10::Allocator;
#endif

struct CardAllocator final : DeviceAllocator {
#if TORCH_AT_LEAST(2, 3)
  c10::DataPtr allocate(std::size_t bytes) override {
    return allocated(bytes);
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    default_copy_data(memory().for_kernels(to), memory().for_kernels(const_cast<void*>(from)),
                      bytes);
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
    memory().release(address);
  }
  static c10::DataPtr allocated(std::size_t bytes) {
    if (bytes == 0) return {nullptr, simulated_card};
    void* address = bytes > greatest_allocation ? nullptr : memory().allocate(bytes);
    TORCH_CHECK_WITH(OutOfMemoryError, address,
                     "simulated accelerator: out of memory, tried to allocate ", bytes);
    return {address, address, &release, simulated_card};
  }
};
CardAllocator allocator;
REGISTER_ALLOCATOR(card_type, &allocator)

/// The same elements as a tensor of the CPU's, at the addresses that kernels see.
torch::Tensor for_kernels(const torch::Tensor& tensor) {
  if (tensor.numel() == 0)
    return torch::empty_strided(tensor.sizes(), tensor.strides(),
                                tensor.options().device(torch::kCPU));
  return torch::from_blob(memory().for_kernels(tensor.data_ptr()), tensor.sizes(), tensor.strides(),
                          torch::TensorOptions(tensor.scalar_type()));
}

torch::Tensor empty_strided(torch::IntArrayRef size, torch::IntArrayRef stride,
                            c10::optional<torch::ScalarType> type, c10::optional<torch::Layout>,
                            c10::optional<torch::Device>, c10::optional<bool>) {
  return at::detail::empty_strided_generic(size, stride, &allocator, c10::DispatchKeySet(card_key),
                                           type.value_or(torch::kFloat));
}

torch::Tensor empty(torch::IntArrayRef size, c10::optional<torch::ScalarType> type,
                    c10::optional<torch::Layout>, c10::optional<torch::Device>, c10::optional<bool>,
                    c10::optional<torch::MemoryFormat> format) {
  return at::detail::empty_generic(size, &allocator, c10::DispatchKeySet(card_key),
                                   type.value_or(torch::kFloat), format);
}

// ---- kernels

/// The arguments of one operator: as it was given them, and as its kernel takes them.
class Launch {
 public:
  explicit Launch(std::string name) : name_(std::move(name)) {}

  c10::IValue argument(const c10::IValue& value) {
    if (value.isTensor()) return of(value.toTensor());
    if (value.isTensorList()) {
      c10::List<torch::Tensor> list;
      for (const torch::Tensor& tensor : value.toTensorVector()) list.push_back(of(tensor));
      return list;
    }
    if (value.isOptionalTensorList()) {
      c10::List<c10::optional<torch::Tensor>> list;
      for (const c10::optional<torch::Tensor>& tensor : value.toOptionalTensorVector())
        list.push_back(tensor ? c10::optional<torch::Tensor>(of(*tensor)) : c10::nullopt);
      return list;
    }
    if (value.isDevice() && value.toDevice().type() == card_type) return torch::Device(torch::kCPU);
    return value;
  }

  /// What the kernel gives, as a tensor of the card's.
  torch::Tensor result(const torch::Tensor& tensor) const {
    if (!tensor.defined()) return tensor;
    if (memory().kernels_see(tensor.data_ptr())) {  // it gave an argument
      for (const auto& [given, seen] : tensors_)
        if (seen.is_same(tensor)) return given;
      TORCH_CHECK(false, "simulated accelerator: ", name_, " gave a view");
    }
    const auto on_card =
        empty_strided(tensor.sizes(), tensor.strides(), tensor.scalar_type(), {}, {}, {});
    for_kernels(on_card).copy_(tensor);
    return on_card;
  }

  /// An operator that was given an empty tensor for its output may have made it fit.
  void adopt_sizes() const {
    for (const auto& [given, seen] : tensors_) {
      if (given.sizes() == seen.sizes()) continue;
      TORCH_CHECK(given.numel() == 0, "simulated accelerator: ", name_, " has resized a tensor");
      given.unsafeGetTensorImpl()->shallow_copy_from(result(seen).getIntrusivePtr());
    }
  }

 private:
  torch::Tensor of(const torch::Tensor& tensor) {
    if (!tensor.defined()) return tensor;
    if (tensor.is_cpu()) {
      TORCH_CHECK(tensor.dim() == 0, "simulated accelerator: ", name_,
                  " was given a tensor of the host's");
      return tensor;
    }
    tensors_.emplace_back(tensor, for_kernels(tensor));
    return tensors_.back().second;
  }

  std::string name_;
  std::vector<std::pair<torch::Tensor, torch::Tensor>> tensors_;
};

/// Whether a card can only say how large its result is when it has computed it.
bool has_size_of_its_own(const std::string& name) {
  return name == "aten::nonzero" || name == "aten::masked_select" || name == "aten::_unique2";
}

/// The place of the argument that is returned, changed in place.
c10::optional<std::size_t> argument_of(const c10::Argument& result,
                                       const c10::FunctionSchema& schema) {
  if (!result.alias_info() || !result.alias_info()->isWrite()) return {};
  for (std::size_t i = 0; i < schema.arguments().size(); ++i) {
    const auto* alias = schema.arguments()[i].alias_info();
    if (alias && alias->beforeSets() == result.alias_info()->beforeSets()) return i;
  }
  return {};
}

/// Any operator of a tensor of the card's: the CPU's kernel.
void run(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  const auto& schema = op.schema();
  count_launch(schema.name());
  const auto begin = static_cast<std::ptrdiff_t>(stack->size() - schema.arguments().size());
  const std::vector<c10::IValue> given(stack->begin() + begin, stack->end());
  Launch launch(schema.name());
  for (std::size_t i = 0; i < given.size(); ++i)
    (*stack)[static_cast<std::size_t>(begin) + i] = launch.argument(given[i]);
  op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack);
  launch.adopt_sizes();
  if (has_size_of_its_own(schema.name())) count_wait();
  const auto results = stack->size() - schema.returns().size();
  for (std::size_t i = 0; i < schema.returns().size(); ++i) {
    c10::IValue& value = (*stack)[results + i];
    if (const auto argument = argument_of(schema.returns()[i], schema)) {
      value = given[*argument];
    } else if (value.isTensor()) {
      value = launch.result(value.toTensor());
    } else if (value.isTensorList()) {
      c10::List<torch::Tensor> list;
      for (const torch::Tensor& tensor : value.toTensorVector())
        list.push_back(launch.result(tensor));
      value = list;
    } else {
      count_wait();  // a number for the host
    }
  }
}

torch::Tensor on_card(const torch::Tensor& tensor) {
  return Launch("").result(tensor);
}
torch::Tensor seen(const torch::Tensor& tensor) {
  return tensor.defined() ? for_kernels(tensor) : tensor;
}

torch::Tensor convolution(const torch::Tensor& x, const torch::Tensor& weight,
                          const c10::optional<torch::Tensor>& bias, torch::IntArrayRef stride,
                          torch::IntArrayRef padding, torch::IntArrayRef dilation, bool transposed,
                          torch::IntArrayRef output_padding, std::int64_t groups) {
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  count_launch("aten::convolution");
  return on_card(at::convolution(for_kernels(x), for_kernels(weight),
                                 seen(bias.value_or(torch::Tensor())), stride, padding, dilation,
                                 transposed, output_padding, groups));
}

std::tuple<torch::Tensor, torch::Tensor, torch::Tensor> convolution_backward(
    const torch::Tensor& gradient, const torch::Tensor& x, const torch::Tensor& weight,
    torch::IntArrayRef stride, torch::IntArrayRef padding, torch::IntArrayRef dilation,
    bool transposed, torch::IntArrayRef output_padding, std::int64_t groups,
    std::array<bool, 3> wanted) {
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  for (const bool each : wanted)
    if (each) count_launch("aten::convolution_backward");
  const auto [of_x, of_weight, of_bias] = at::convolution_backward(
      for_kernels(gradient), for_kernels(x), for_kernels(weight),
      wanted[2] ? at::OptionalIntArrayRef({weight.size(0)}) : at::OptionalIntArrayRef(), stride,
      padding, dilation, transposed, output_padding, groups, wanted);
  return {on_card(of_x), on_card(of_weight), on_card(of_bias)};
}

/// One kernel on real cards; torch would take it apart for a device that it does not know.
torch::Tensor silu_backward(const torch::Tensor& gradient, const torch::Tensor& x) {
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  count_launch("aten::silu_backward");
  return on_card(at::silu_backward(for_kernels(gradient), for_kernels(x)));
}

// ---- copies

torch::Tensor& copy(torch::Tensor& to, const torch::Tensor& from, bool non_blocking) {
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  if (from.device() == to.device()) {
    count_launch("copy");
    for_kernels(to).copy_(for_kernels(from));
    return to;
  }
  const bool upload = from.is_cpu();
  const auto& host = upload ? from : to;
  if (!non_blocking || !is_pinned_address(host.storage().data())) count_wait();
  count_copy(upload, static_cast<std::int64_t>(from.nbytes()));
  upload ? for_kernels(to).copy_(from) : to.copy_(for_kernels(from));
  return to;
}

torch::Tensor copy_from_and_resize(const torch::Tensor& from, const torch::Tensor& to) {
  TORCH_CHECK(from.sizes() == to.sizes(), "simulated accelerator: a copy has resized a tensor");
  torch::Tensor there = to;
  return copy(there, from, false);
}

torch::Scalar number(const torch::Tensor& tensor) {
  count_wait();
  count_copy(/*upload=*/false, static_cast<std::int64_t>(tensor.nbytes()));
  return for_kernels(tensor).item();
}

// ---- the device

std::atomic<c10::DeviceIndex> visible_cards = 1;

/// One card with one stream, on which everything is done at once.
struct Guard final : c10::impl::DeviceGuardImplInterface {
  Guard() = default;
  explicit Guard(c10::DeviceType) {}
  c10::DeviceType type() const override { return card_type; }
  c10::Device exchangeDevice(c10::Device) const override { return simulated_card; }
  c10::Device getDevice() const override { return simulated_card; }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::Stream getStream(c10::Device) const noexcept override { return stream(); }
  c10::Stream getDefaultStream(c10::Device) const override { return stream(); }
  c10::Stream exchangeStream(c10::Stream) const noexcept override { return stream(); }
  c10::DeviceIndex deviceCount() const noexcept override { return visible_cards; }
  void record(void**, const c10::Stream&, const c10::DeviceIndex, c10::EventFlag) const override {}
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  bool queryStream(const c10::Stream&) const override { return true; }
  void synchronizeStream(const c10::Stream&) const override { count_wait(); }

 private:
  static c10::Stream stream() { return c10::Stream(c10::Stream::DEFAULT, simulated_card); }
};
C10_REGISTER_GUARD_IMPL(XPU, Guard)

TORCH_LIBRARY_IMPL(_, XPU, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&run>());
}

TORCH_LIBRARY_IMPL(aten, XPU, library) {
  library.impl("empty.memory_format", &empty);
  library.impl("empty_strided", &empty_strided);
  library.impl("as_strided", &at::native::as_strided_tensorimpl);
  library.impl("view", &at::native::view);
  library.impl("_reshape_alias", &at::native::_reshape_alias);
  library.impl("convolution_overrideable", &convolution);
  library.impl("convolution_backward_overrideable", &convolution_backward);
  library.impl("silu_backward", &silu_backward);
  // Kernels of their own on real cards; torch 2 would take them apart for a device without.
  for (const char* name : {"_foreach_add_.List", "_foreach_norm.Scalar"})
    library.impl(name, torch::CppFunction::makeFromBoxedFunction<&run>());
  library.impl("copy_", &copy);
  library.impl("_copy_from_and_resize", &copy_from_and_resize);
  library.impl("_local_scalar_dense", &number);
}

}  // namespace

NothingLargerThan::NothingLargerThan(std::size_t bytes) {
  greatest_allocation = bytes;
}
NothingLargerThan::~NothingLargerThan() {
  greatest_allocation = std::numeric_limits<std::size_t>::max();
}

VisibleCards::VisibleCards(c10::DeviceIndex count) {
  visible_cards = count;
}
VisibleCards::~VisibleCards() {
  visible_cards = 1;
}

}  // namespace evolve::test

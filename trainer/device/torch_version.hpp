// All that differs between the versions of libtorch that evolve builds with: 1.13 and 2.x.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <optional>

namespace evolve::trainer {

/// Makes results on GPUs depend on arguments alone: deterministic operators where libtorch has them
/// (it warns where it has none), no choice of kernels by the clock, no TF32. To be called before
/// the library of a device is opened.
void make_repeatable();

/// `library` is libtorch_xpu, just opened. Lets this process have all of each device's memory and
/// no more: beyond it Intel's driver would lose the device (pytorch#177714), and an allocation
/// fails with "out of memory" instead. A libtorch before 2.10 has no such bound: one line on
/// standard error says so.
void bound_xpu_memory(void* library);

/// Memory of the host, [bytes] of uint8, from which a copy to the device need not wait: page-locked
/// where the device is none of the host's.
torch::Tensor staging_memory(std::int64_t bytes, const torch::Device& device);

/// Waits until everything that was asked of the device is done, so that a clock read afterwards
/// tells the truth.
void synchronize(const torch::Device& device);

/// Bytes of the device's memory that this process holds, its cache included: YOLOv5's GPU_mem. 0 on
/// a CPU, with a libtorch before 2.9, which tells it to no device-neutral program, and where its
/// allocator for the device does not tell.
std::int64_t memory_bytes(const torch::Device& device);

/// Bytes of the device's memory that nobody holds; nothing where this libtorch does not tell: on
/// devices that are no CUDA or ROCm ones before 2.10.
std::optional<std::int64_t> free_memory_bytes(const torch::Device& device);

/// While it lives, this thread's operators on the device choose their precision as torch's autocast
/// does: convolutions in `type`, losses in single precision. `torch::kFloat` switches nothing.
class Autocast {
 public:
  Autocast(const torch::Device& device, torch::ScalarType type);
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  torch::Device device_;
  bool active_;
};

}  // namespace evolve::trainer

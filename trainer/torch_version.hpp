// All that differs between the versions of libtorch that evolve builds with: 1.13 and 2.x.
#pragma once

#include <torch/types.h>

#include <cstdint>

namespace evolve::trainer {

/// Waits until everything that was asked of the device is done, so that a clock read afterwards
/// tells the truth. Throws c10::Error for a device that this libtorch cannot drive.
void synchronize(const torch::Device& device);

/// Bytes of the device's memory that this process holds, its cache included: YOLOv5's GPU_mem. 0 on
/// a CPU, and with a libtorch before 2.9, which tells it to no device-neutral program.
std::int64_t memory_bytes(const torch::Device& device);

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

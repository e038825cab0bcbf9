// All that differs between the versions of libtorch that evolve builds with: 1.13 and 2.x.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <string>

namespace evolve::trainer {

/// The device "cpu", "cuda:0" or "xpu:0". Throws `Error` where this libtorch was built without such
/// devices, or sees none: nothing ever runs on another one.
torch::Device open_device(const std::string& name);

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

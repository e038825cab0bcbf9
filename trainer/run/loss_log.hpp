// The losses of a training's iterations, read many at a time.
#pragma once

#include <torch/types.h>

#include <array>
#include <cstdint>
#include <vector>

namespace evolve::trainer {

/// Keeps losses on the device until somebody reads them, so that the iterations in between need not
/// wait for them. On a CPU, where nothing is waited for, each is read at once.
class LossLog {
 public:
  explicit LossLog(const torch::Device& device);

  /// `items`: [3] on the device.
  void add(const torch::Tensor& items);
  /// Whether the log must be read before the next add().
  bool full() const { return count_ == rows_.size(0); }
  /// The losses since the last reading, in order. Waits for the device.
  std::vector<std::array<double, 3>> read();

 private:
  torch::Tensor rows_;
  std::int64_t count_ = 0;
};

}  // namespace evolve::trainer

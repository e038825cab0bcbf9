#include "trainer/run/loss_log.hpp"

#include <torch/torch.h>

#include <utility>

namespace evolve::trainer {

// 32 iterations of a small model on a fast card take a second.
LossLog::LossLog(const torch::Device& device)
    : rows_(torch::empty({device.is_cpu() ? 1 : 32, 3}, torch::TensorOptions(device))) {}

void LossLog::add(const torch::Tensor& items) {
  rows_[count_++].copy_(items);
}

std::vector<std::array<double, 3>> LossLog::read() {
  const auto rows = rows_.narrow(0, 0, std::exchange(count_, 0)).cpu();
  const auto losses = rows.accessor<float, 2>();
  std::vector<std::array<double, 3>> read;
  for (std::int64_t i = 0; i < losses.size(0); ++i)
    read.push_back({losses[i][0], losses[i][1], losses[i][2]});
  return read;
}

}  // namespace evolve::trainer

// What a training computes with.
#pragma once

#include <torch/types.h>

#include <functional>

#include "trainer/optim/amp.hpp"
#include "trainer/run/device_images.hpp"

namespace evolve::trainer {

struct ComputeContext {
  torch::Device device;
  /// CPU threads of this process.
  int threads = 1;
  /// To be called all the time while work goes on, by the thread that does it: see Heartbeat.
  std::function<void()> beat = [] {};
  /// The 16-bit type of mixed precision there, if it is asked for.
  torch::ScalarType fast_type = trainer::fast_type(device);
  /// How many bytes of images may lie there; where they do not fit, they stay on the host.
  std::int64_t image_bytes = image_budget(device);
};

}  // namespace evolve::trainer

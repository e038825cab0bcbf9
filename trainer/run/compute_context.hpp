// What a training computes with.
#pragma once

#include <torch/types.h>

#include <functional>
#include <memory>
#include <vector>

#include "trainer/data/beat.hpp"
#include "trainer/data/note.hpp"
#include "trainer/data/threads.hpp"
#include "trainer/device/device_images.hpp"
#include "trainer/optim/amp.hpp"
#include "trainer/ranks/ranks.hpp"

namespace evolve::trainer {

struct ComputeContext {
  torch::Device device;
  /// CPU threads of this process.
  int threads = 1;
  /// To be called all the time while work goes on, by the thread that does it: see Heartbeat.
  /// Throws when the work is in vain.
  std::function<void()> beat = [] {};
  /// The 16-bit type of mixed precision there, if it is asked for.
  torch::ScalarType fast_type = trainer::fast_type(device);
  /// How many bytes of images may lie there; where they do not fit, they stay on the host.
  std::int64_t image_bytes = image_budget(device);
  /// The cores on which images may be decoded while other slots wait for them too; empty: this
  /// process' own.
  std::vector<int> loading_cores = {};
  /// To be called while images are prepared, before anything is trained.
  data::Beat preparing = [](int, int) {};
  /// Where lines for the reader of the log go. Of ranks, which would all say much the same, only
  /// the first one has a place for them.
  data::Note note = data::on_standard_error;

  data::Threads loading_threads() const { return {threads, loading_cores}; }
  /// The processes that train together; this one has its place among them.
  std::shared_ptr<Ranks> ranks = std::make_shared<Ranks>();
};

}  // namespace evolve::trainer

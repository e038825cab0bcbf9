// The workers of a run on one device.
#pragma once

namespace evolve::core {

struct WorkerCount {
  /// Processes that hold, or may hold, memory of the device.
  int alive = 0;
  /// Processes without a trial.
  int idle = 0;
  /// Each of the processes has trained an epoch or a whole trial, so that it holds what it needs.
  bool grown = true;
};

}  // namespace evolve::core

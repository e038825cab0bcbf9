// Tells which GPUs wait for the host, as with the many short requests of a small model's training.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/run_state.hpp"
#include "workers/supervise/worker_set.hpp"

namespace evolve::cli {

class IdleDevices {
 public:
  /// `cores` of this machine may be used.
  explicit IdleDevices(int cores) : cores_(cores) {}

  /// Advice to train more trials at a time on a device, once for each number of slots there: if it
  /// was less than half busy in ten looks of its driver (of one in 30 s) while all its slots
  /// trained, and there is memory for as many more, a core for each, and no lag that forbids them.
  std::optional<std::string> on(const results::DeviceStats& stats, const engine::RunState& state,
                                const std::vector<workers::Progress>& under_way,
                                const std::string& devices_file);

 private:
  struct Looks {
    std::ptrdiff_t slots = 0;
    int count = 0;
    double load = 0;
    bool has_room = true;
  };

  int cores_;
  std::map<std::string, Looks> looks_;
};

}  // namespace evolve::cli

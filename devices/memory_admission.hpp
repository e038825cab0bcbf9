// Whether a device's memory has room for one more worker.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/worker_count.hpp"
#include "devices/clock.hpp"

namespace evolve::devices {

/// Learns from samples of the driver what a worker needs. Where the driver tells nothing of memory,
/// there is room.
class MemoryAdmission {
 public:
  enum class Answer { yes, unknown_yet, full };

  /// A worker was started on the device, or one has ended: earlier samples no longer count. Nothing
  /// for a device of which no sample was ever told.
  void changed(const std::string& device, Clock::time_point now);
  /// A sample that was asked for at `asked`, while the device had these workers. Without memory
  /// when the driver does not tell.
  void sampled(const std::string& device, const core::WorkerCount& workers,
               std::optional<std::int64_t> total_bytes, std::optional<std::int64_t> free_bytes,
               Clock::time_point asked);

  /// Whether a further worker can be started beside these. Yes where nothing is known; otherwise,
  /// for the first one a twentieth of the memory must be free, and for each as much as one was seen
  /// to need of late (once the device was left alone for ten minutes, half of the memory is
  /// enough). A further one waits until those before it hold what they need.
  Answer fits(const std::string& device, const core::WorkerCount& workers) const;

 private:
  struct State {
    std::optional<std::int64_t> total, free;
    /// Free when none of ours was there.
    std::optional<std::int64_t> free_without_us;
    /// The most that a worker was seen to hold, since the present stretch of time began, and in the
    /// one before.
    std::int64_t need = 0, earlier = 0;
    Clock::time_point began;
    bool grown = false;
    Clock::time_point asked;
    std::optional<Clock::time_point> changed;
  };
  std::map<std::string, State> states_;
};

}  // namespace evolve::devices

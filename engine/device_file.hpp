// The file `devices` in a run's folder: what the run trains on, to be edited while it goes on.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/slot.hpp"

namespace evolve::engine {

/// What the file asks for.
struct DeviceRequest {
  /// As in `--devices`.
  std::string spec;
  /// Devices that are taken away at once: what they train is trained elsewhere.
  std::vector<std::string> taken_at_once = {};
  bool operator==(const DeviceRequest&) const = default;
};

/// One item of `--devices` a line, or several with commas; `take NAME` for a device that is taken
/// away at once; `#` begins a comment.
DeviceRequest parse_device_file(const std::string& text);

class DeviceFile {
 public:
  /// Writes the file, with what the run has and how to change it. Throws `Error` when that fails.
  DeviceFile(std::filesystem::path file, const std::vector<core::Slot>& slots);

  /// What it asks for, when that has changed since the last look; a file that is gone asks for
  /// nothing. Looks once a second at most.
  std::optional<DeviceRequest> changed();

 private:
  using Clock = std::chrono::steady_clock;

  std::filesystem::path file_;
  std::string text_;
  Clock::time_point look_again_{};
};

}  // namespace evolve::engine

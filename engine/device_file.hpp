// The file `devices` in a run's folder: what the run trains on, to be edited while it goes on.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/slot.hpp"

namespace evolve::engine {

/// What the file asks for.
struct DeviceRequest {
  /// As in `--devices`.
  std::string spec;
  /// What is taken away at once, as in `--devices`: what it trains is trained elsewhere.
  std::vector<std::string> taken_at_once = {};
  bool operator==(const DeviceRequest&) const = default;
};

/// Reads the text of a `devices` file: one item of `--devices` a line, or several with commas;
/// `take ITEM` for a device that is taken away at once; `#` begins a comment.
DeviceRequest parse_device_file(const std::string& text);

/// Those of the run's devices (slots, and what those have that have several) that `take TEXT`
/// names, read as `--devices` is: "NPU:3", "npu", "npu:*"; "1" is one of the run's CUDA devices
/// where it has any, else of its XPUs. Throws `Error` when that is malformed, or no device of the
/// run.
std::vector<std::string> devices_named(const std::string& text,
                                       const std::set<std::string>& devices);

class DeviceFile {
 public:
  /// Writes the file, with what the run has and how to change it. Throws `Error` when that fails.
  DeviceFile(std::filesystem::path file, const std::vector<core::Slot>& slots);

  /// What the file asks for, when that has changed since the last look, or when that was refused
  /// and the file was written again; a file that is gone asks for nothing. Looks once a second at
  /// most.
  std::optional<DeviceRequest> changed();

  /// What it asked for cannot be; later it may.
  void refused() { refused_ = true; }

 private:
  using Clock = std::chrono::steady_clock;

  std::filesystem::path file_;
  std::string text_;
  std::filesystem::file_time_type time_{};
  bool refused_ = false;
  Clock::time_point look_again_{};
};

}  // namespace evolve::engine

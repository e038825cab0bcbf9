// How much memory this machine has left for a process.
#pragma once

#include <cstdint>
#include <filesystem>

namespace evolve::core {

/// The machine's memory, in bytes.
struct HostMemory {
  std::int64_t total = 0;
  /// What can be taken before others are swapped out or killed: pages that only repeat a file count
  /// as free.
  std::int64_t available = 0;
};

/// MemTotal and MemAvailable, or what the tightest memory limit among this process' cgroups leaves,
/// if that is less. Zeros where nothing is told. `root` is where /proc and /sys are.
HostMemory host_memory(const std::filesystem::path& root = "/");

}  // namespace evolve::core

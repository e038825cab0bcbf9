// What this machine has to train on.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "devices/discovery.hpp"

namespace evolve::devices {

struct Machine {
  /// The CPU cores that this process may run on, by their numbers.
  std::vector<int> cores;
  /// How many of them it may keep busy: fewer than cores.size() under a quota; at least 1.
  int usable_cores = 1;
  /// What hides devices from this process.
  Environment environment;
  /// AMD's driver is there (/dev/kfd). It is not asked for its devices.
  bool has_amd = false;
  /// The accelerators of a kind, "cuda" or "xpu". Not asked for, no driver is touched.
  std::function<Discovery(const std::string& kind)> discover = [](const std::string&) {
    return Discovery{};
  };
};

/// The cores of this process' affinity, and how many of them its cgroup's quota pays for, rounded
/// up (OpenMP's runtime looks at the affinity only: under a quota it would start too many threads);
/// the accelerators as devices::discover() finds them in this process' environment. `device_env`:
/// a variable more that may hide devices.
Machine this_machine(const std::string& device_env = "");

/// This machine's CPU and memory, as a device "cpu".
Accelerator host(const std::filesystem::path& root = "/");

/// The CPU time that the cgroup of this process may use, in cores (1.5 is one and a half), or
/// nothing when it is not limited: the least of `cpu.max` (version 2) and `cpu.cfs_quota_us`
/// (version 1) of the group and its parents. `root` is where /proc and /sys are.
std::optional<double> cpu_quota(const std::filesystem::path& root = "/");

/// The cores that this process is bound to, in their order; one at least.
std::vector<int> allowed_cores();

}  // namespace evolve::devices

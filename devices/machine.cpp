#include "devices/machine.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>

#include "core/cgroup.hpp"
#include "core/core_mask.hpp"
#include "core/host_memory.hpp"

namespace evolve::devices {
namespace {

/// Both numbers are in microseconds; "max" and -1 mean no limit.
std::optional<double> ratio(std::istream& quota_text, std::istream& period_text) {
  double quota = 0;
  double period = 0;
  if (!(quota_text >> quota) || !(period_text >> period) || quota <= 0 || period <= 0) return {};
  return quota / period;
}

std::optional<double> quota_v2(const std::filesystem::path& group) {
  std::ifstream file(group / "cpu.max");
  return ratio(file, file);
}

std::optional<double> quota_v1(const std::filesystem::path& group) {
  std::ifstream quota(group / "cpu.cfs_quota_us");
  std::ifstream period(group / "cpu.cfs_period_us");
  return ratio(quota, period);
}

}  // namespace

std::vector<int> allowed_cores() {
  auto cores = core::CoreMask::of_this_thread().cores();
  if (cores.empty()) cores.push_back(0);
  return cores;
}

std::optional<double> cpu_quota(const std::filesystem::path& root) {
  std::optional<double> least;
  for (const auto& group : core::control_groups("cpu", root)) {
    for (const auto& quota : {quota_v2(group), quota_v1(group)})
      if (quota && (!least || *quota < *least)) least = quota;
  }
  return least;
}

Accelerator host(const std::filesystem::path& root) {
  Accelerator cpu{.kind = "cpu", .name = "CPU", .integrated = true};
  std::ifstream processors(root / "proc/cpuinfo");
  for (std::string line; std::getline(processors, line);) {
    const auto sign = line.find(": ");
    if (sign == line.npos || !line.starts_with("model name")) continue;
    cpu.name = line.substr(sign + 2);
    break;
  }
  if (const auto memory = core::host_memory(root); memory.total > 0) {
    cpu.memory_total_bytes = memory.total;
    cpu.memory_free_bytes = memory.available;
  }
  return cpu;
}

Machine this_machine(const std::string& device_env) {
  Machine machine{.cores = allowed_cores(),
                  .usable_cores = 0,
                  .environment = device_environment(device_env),
                  .has_amd = ::access("/dev/kfd", F_OK) == 0,
                  .discover = [](const std::string& kind) {
                    return devices::discover(kind, device_environment());
                  }};
  const auto cores = static_cast<int>(machine.cores.size());
  const auto quota = cpu_quota().value_or(cores);
  machine.usable_cores =
      std::clamp(static_cast<int>(std::ceil(std::min<double>(quota, cores))), 1, cores);
  return machine;
}

}  // namespace evolve::devices

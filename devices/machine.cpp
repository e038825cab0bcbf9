#include "devices/machine.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>

namespace evolve::devices {
namespace {

/// The greatest number of cores that Linux can be configured for.
constexpr int most_cores = 8192;

}  // namespace

std::vector<int> allowed_cores() {
  std::vector<cpu_set_t> set(CPU_ALLOC_SIZE(most_cores) / sizeof(cpu_set_t));
  const auto bytes = set.size() * sizeof(cpu_set_t);
  std::vector<int> cores;
  if (::sched_getaffinity(0, bytes, set.data()) == 0)
    for (int core = 0; core < most_cores; ++core)
      if (CPU_ISSET_S(core, bytes, set.data())) cores.push_back(core);
  if (cores.empty()) cores.push_back(0);
  return cores;
}

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

/// Is `word` one of the comma-separated `words`?
bool lists(const std::string& words, const std::string& word) {
  return ("," + words + ",").find("," + word + ",") != std::string::npos;
}

}  // namespace

std::optional<double> cpu_quota(const std::filesystem::path& root) {
  const auto mounts = root / "sys/fs/cgroup";
  std::optional<double> least;
  // Inside a container the path may be the host's while the mount is the container's own: the walk
  // to the top then passes folders that do not exist, and ends at the mount.
  const auto walk = [&](const std::filesystem::path& mount, std::filesystem::path group,
                        auto quota_of) {
    for (bool top = false; !top; group = group.parent_path()) {
      top = group.empty();
      const auto quota = quota_of(mount / group);
      if (quota && (!least || *quota < *least)) least = quota;
    }
  };
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const auto controllers = line.substr(first + 1, second - first - 1);
    auto group = line.substr(second + 1);
    group.erase(0, group.find_first_not_of('/'));
    if (controllers.empty()) walk(mounts, group, quota_v2);
    if (lists(controllers, "cpu")) walk(mounts / controllers, group, quota_v1);
  }
  return least;
}

Accelerator host(const std::filesystem::path& root) {
  Accelerator cpu{.kind = "cpu", .name = "CPU", .integrated = true};
  std::ifstream processors(root / "proc/cpuinfo");
  for (std::string line; std::getline(processors, line);) {
    if (!line.starts_with("model name")) continue;
    cpu.name = line.substr(line.find(": ") + 2);
    break;
  }
  std::ifstream memory(root / "proc/meminfo");
  std::string key, unit;
  for (std::int64_t kibibytes = 0; memory >> key >> kibibytes && std::getline(memory, unit);) {
    if (key == "MemTotal:") cpu.memory_total_bytes = kibibytes * 1024;
    if (key == "MemAvailable:") cpu.memory_free_bytes = kibibytes * 1024;
  }
  return cpu;
}

Machine this_machine() {
  Machine machine{.cores = allowed_cores(),
                  .usable_cores = 0,
                  .environment = device_environment(),
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

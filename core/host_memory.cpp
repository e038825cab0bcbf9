#include "core/host_memory.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

#include "core/cgroup.hpp"

namespace evolve::core {
namespace fs = std::filesystem;
namespace {

/// "max" and a missing file are no number.
std::optional<std::int64_t> number_in(const fs::path& file) {
  std::ifstream stream(file);
  std::int64_t value = 0;
  if (stream >> value) return value;
  return {};
}

/// The value of "key value" in a file of such lines, 0 where there is none.
std::int64_t value_of(const std::string& wanted, const fs::path& file) {
  std::ifstream stream(file);
  std::string key, rest;
  for (std::int64_t value = 0; stream >> key >> value && std::getline(stream, rest);)
    if (key == wanted) return value;
  return 0;
}

/// What is used counts pages of files that nobody misses.
std::optional<HostMemory> limit_of(const fs::path& group, const char* limit, const char* usage,
                                   const char* file_pages) {
  const auto total = number_in(group / limit), used = number_in(group / usage);
  if (!total || !used) return {};
  const auto needed = *used - value_of(file_pages, group / "memory.stat");
  return HostMemory{*total, std::max<std::int64_t>(0, *total - needed)};
}

}  // namespace

HostMemory host_memory(const fs::path& root) {
  const auto meminfo = root / "proc/meminfo";
  HostMemory memory{1024 * value_of("MemTotal:", meminfo),
                    1024 * value_of("MemAvailable:", meminfo)};
  for (const auto& group : control_groups("memory", root)) {
    auto limit = limit_of(group, "memory.max", "memory.current", "inactive_file");
    if (!limit)
      limit =
          limit_of(group, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file");
    if (!limit) continue;
    memory.total = std::min(memory.total, limit->total);
    memory.available = std::min(memory.available, limit->available);
  }
  return memory;
}

}  // namespace evolve::core

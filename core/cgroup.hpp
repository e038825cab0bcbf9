// Where Linux limits what a group of processes may use.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace evolve::core {

/// The folders that may hold limits of `controller` ("cpu", "memory") for this process: those of
/// its cgroup and of all above it, version 2 and version 1. Not each of them exists: inside a
/// container the path may be the host's while the mount is the container's own. `root` is where
/// /proc and /sys are.
std::vector<std::filesystem::path> control_groups(const std::string& controller,
                                                  const std::filesystem::path& root = "/");

}  // namespace evolve::core

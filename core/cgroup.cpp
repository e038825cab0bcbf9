#include "core/cgroup.hpp"

#include <fstream>

namespace evolve::core {
namespace fs = std::filesystem;
namespace {

/// Is `word` one of the comma-separated `words`?
bool lists(const std::string& words, const std::string& word) {
  return ("," + words + ",").find("," + word + ",") != std::string::npos;
}

}  // namespace

std::vector<fs::path> control_groups(const std::string& controller, const fs::path& root) {
  const auto mounts = root / "sys/fs/cgroup";
  std::vector<fs::path> found;
  const auto walk = [&](const fs::path& mount, fs::path group) {
    for (bool top = false; !top; group = group.parent_path()) {
      top = group.empty();
      found.push_back(mount / group);
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
    if (controllers.empty()) walk(mounts, group);
    if (lists(controllers, controller)) walk(mounts / controllers, group);
  }
  return found;
}

}  // namespace evolve::core

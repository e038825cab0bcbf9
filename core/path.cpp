#include "core/path.hpp"

#include <algorithm>

namespace evolve::core {

std::filesystem::path without_dots(const std::filesystem::path& path) {
  const auto shortened = path.lexically_normal();
  if (std::ranges::find(path, "..") == path.end()) return shortened;
  const auto meant = std::filesystem::weakly_canonical(std::filesystem::absolute(path));
  const auto found = std::filesystem::weakly_canonical(std::filesystem::absolute(shortened));
  return found == meant ? shortened : meant;
}

}  // namespace evolve::core

#include "core/environment.hpp"

#include <cstdlib>

namespace evolve::core {

std::string environment_variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace evolve::core

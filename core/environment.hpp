// The variables of this process.
#pragma once

#include <string>

namespace evolve::core {

/// Its value; empty where it is not set.
std::string environment_variable(const char* name);

}  // namespace evolve::core

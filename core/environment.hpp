// The variables of this process.
#pragma once

#include <string>

namespace evolve::core {

/// The value of an environment variable; empty where it is not set.
std::string environment_variable(const char* name);

}  // namespace evolve::core

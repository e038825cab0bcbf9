// What the environment of a slot's process has.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace evolve::devices {

using Variables = std::vector<std::pair<std::string, std::string>>;

/// Of a process on `threads` CPU cores that sees no accelerator.
Variables cpu_environment(const std::string& slot, int threads);

/// Of a process that sees one accelerator by `mask`, and none of the other kinds.
Variables gpu_environment(const std::string& slot, const std::string& kind, const Variables& mask,
                          int threads);

}  // namespace evolve::devices

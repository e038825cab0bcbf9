// What the built-in trainer can train on.
#pragma once

#include <string>
#include <vector>

namespace evolve::workers {

/// The kinds of devices that the libtorch of this worker (a program file) was built for: "cpu",
/// "cuda". Starts it once; no driver is asked. Throws `Error` when it does not start.
std::vector<std::string> trainable_kinds(const std::string& worker);

}  // namespace evolve::workers

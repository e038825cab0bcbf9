// Which kinds of devices this build can train on; needs no torch. Beside open_device(), which opens
// one, in open_device.cpp.
#pragma once

#include <string>
#include <vector>

namespace evolve::trainer {

/// The kinds of devices that the libtorch of this process has libraries for: "cpu", "cuda", "hip"
/// (ROCm), "xpu". None is opened, and no driver asked.
std::vector<std::string> device_kinds();

}  // namespace evolve::trainer

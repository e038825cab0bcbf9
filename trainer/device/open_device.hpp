// The device that a trainer computes on.
//
// A libtorch for CUDA, ROCm or XPU has those devices in a library of its own beside libtorch_cpu:
// it is opened for a device of that kind and for no other, so that the same program serves all
// builds, and a trainer on a CPU never touches a driver.
#pragma once

#include <torch/types.h>

#include <string>

namespace evolve::trainer {

/// The device "cpu", "cuda:0", "hip:0" (which torch calls "cuda:0") or "xpu:0", with its library
/// opened and its arithmetic made repeatable (torch_version.hpp). Throws `Error` where this
/// libtorch was built without such devices, its library does not open, or it sees none, or several,
/// because no mask holds: nothing ever runs on another one.
torch::Device open_device(const std::string& name);

}  // namespace evolve::trainer

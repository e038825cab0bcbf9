// NVIDIA's GPUs, by NVML (the library behind nvidia-smi). No CUDA context is made.
#pragma once

#include <vector>

#include "devices/accelerator.hpp"

namespace evolve::devices {

/// All GPUs that this process has access to, in the order of their PCI addresses, as nvidia-smi
/// numbers them; in place of a GPU in MIG mode its MIG instances, and where it has none (none that
/// this process may see), the GPU itself, out of order. Whatever CUDA_VISIBLE_DEVICES says: NVML
/// does not look at it. `mask` shows each by its UUID.
///
/// Loads the vendor's library into this process: to be called in a probe. Throws NoDriver, and
/// std::runtime_error when the driver fails.
std::vector<Accelerator> list_nvidia_devices();

}  // namespace evolve::devices

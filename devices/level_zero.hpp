// Intel's GPUs, by Level Zero.
#pragma once

#include <string>
#include <vector>

#include "devices/accelerator.hpp"

namespace evolve::devices {

/// One of the devices that Level Zero lists.
struct LevelZeroDevice {
  /// Without `index` and `mask`.
  Accelerator xpu;
  /// What ZE_AFFINITY_MASK calls it where no mask is set: "2", and "0.1" for a tile.
  std::string place;
  /// A tile of the device that is listed before it.
  bool tile = false;
};

/// The GPUs that Level Zero shows this process, and their tiles, under the ZE_AFFINITY_MASK and
/// ZE_FLAT_DEVICE_HIERARCHY that it has. In libtorch's order: a driver with a discrete GPU comes
/// first; each driver lists discrete GPUs first, then by PCI address. `sensors` reads Sysman
/// too: memory in use, load, temperature, power. That takes a tenth of a second.
///
/// Loads the vendor's library into this process, and sets ZES_ENABLE_SYSMAN where its loader is too
/// old for anything else: to be called in a probe. Throws NoDriver, and std::runtime_error when the
/// driver fails.
std::vector<LevelZeroDevice> list_intel_devices(bool sensors);

}  // namespace evolve::devices

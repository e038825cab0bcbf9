// Which of a machine's devices one is, whatever number it has where.
#pragma once

#include <string>

namespace evolve::core {

/// A device as its driver has it; empty where it does not tell.
struct DeviceIdentity {
  std::string uuid = {}, pci = {};
  bool operator==(const DeviceIdentity&) const = default;
};

}  // namespace evolve::core

// Which of a machine's devices one is, whatever number it has where.
#pragma once

#include <string>
#include <string_view>

namespace evolve::core {

/// A device as its driver has it; empty where it does not tell.
struct DeviceIdentity {
  std::string uuid = {}, pci = {};
  bool operator==(const DeviceIdentity&) const = default;
};

/// Drivers and libraries write the same UUID with "GPU-" before it or not, with dashes or not, in
/// capital letters or small ones.
bool same_uuid(std::string_view a, std::string_view b);

/// Drivers and libraries write the same PCI address with a domain of more or fewer digits, or with
/// none: "0000:03:00.0", "03:00.0".
bool same_pci(std::string_view a, std::string_view b);

}  // namespace evolve::core

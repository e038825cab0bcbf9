// The variables that tell the process of a slot what evolve gave it; docs/devices.md has them.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "core/slot.hpp"

namespace evolve::core {

/// The slot's name.
inline constexpr const char* device_variable = "EVOLVE_DEVICE";
/// The machine's own number of the slot's device, whatever is masked: "2"; of a group "2,3".
inline constexpr const char* index_variable = "EVOLVE_INDEX";
/// The cores of all CPU slots, "0,1,2": a worker may use them while the others wait.
inline constexpr const char* cores_variable = "EVOLVE_CORES";
/// For a trainer that goes by the number in EVOLVE_INDEX: the variables, with commas between them,
/// within which it would count again, and which evolve's own environment may have.
inline constexpr const char* unset_variable = "EVOLVE_UNSET";

/// The value that a slot's process finds there; null where the slot does not set it.
inline const std::string* variable(const Slot& slot, std::string_view name) {
  const auto found =
      std::ranges::find(slot.environment, name, &std::pair<std::string, std::string>::first);
  return found == slot.environment.end() ? nullptr : &found->second;
}

}  // namespace evolve::core

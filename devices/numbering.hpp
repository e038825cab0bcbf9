// The names of devices that a run has. Where one is lost the driver may number the others anew: the
// run does not.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/slot.hpp"
#include "devices/accelerator.hpp"

namespace evolve::devices {

/// Devices by name, and what their driver said of each.
using Identities = std::map<std::string, core::DeviceIdentity>;

/// The devices of a kind that slots have, as far as a driver has told them.
Identities identities_of(const std::vector<core::Slot>& slots, const std::string& kind);

/// The slot's devices among those that a driver lists, in its order; nothing when one is missing.
std::optional<std::vector<Accelerator>> devices_of(const core::Slot& slot,
                                                   const std::vector<Accelerator>& listed);

/// The first of the slot's devices that a driver does not list; "" when it lists all.
std::string missing_of(const core::Slot& slot, const std::vector<Accelerator>& listed);

/// What a process with a slot's environment is shown, by what a driver lists now.
enum class Shown {
  /// The slot's devices; or no driver tells.
  own,
  /// Others, or its own under other numbers: the driver has numbered them anew.
  others,
  /// Who knows: one of its devices is not listed, as others of its kind are.
  missing
};
Shown shown_to(const core::Slot& slot, const std::vector<Accelerator>& listed);

/// Whether the slot's mask names its devices by their UUIDs, which no driver numbers anew.
bool is_masked_by_uuid(const core::Slot& slot);

/// Whether the slot's environment is what shows a process these devices, in this order.
bool shows(const core::Slot& slot, const std::vector<Accelerator>& devices);

/// Numbers those of a kind's devices that were `had` as they were then, and others as their driver
/// does, or beyond all of those where one of those has that number. Whether any has another number
/// now.
bool keep_numbers(std::vector<Accelerator>& found, const Identities& had);

}  // namespace evolve::devices

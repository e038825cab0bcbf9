#include "devices/numbering.hpp"

#include <algorithm>
#include <set>

#include "core/device_kind.hpp"
#include "core/slot_environment.hpp"
#include "devices/place.hpp"

namespace evolve::devices {

Identities identities_of(const std::vector<core::Slot>& slots, const std::string& kind) {
  Identities all;
  for (const auto& slot : slots) {
    if (core::kind_of(slot.name) != kind) continue;
    const auto devices = core::members_of(slot.name);
    for (std::size_t i = 0; i < slot.identities.size(); ++i)
      all.emplace(devices[i], slot.identities[i]);
  }
  return all;
}

namespace {

/// Whether an accelerator is the device that had that name and identity: by UUID, else by PCI
/// address, else by name.
bool is_same_device(const Accelerator& accelerator, const std::string& name,
                    const core::DeviceIdentity& identity) {
  if (accelerator.kind != core::kind_of(name)) return false;
  if (!identity.uuid.empty()) return core::same_uuid(accelerator.uuid, identity.uuid);
  if (!identity.pci.empty()) return core::same_pci(accelerator.pci, identity.pci);
  return name_of(accelerator) == name;
}

/// The slot's devices, in its order, among those that a driver lists; null where it does not.
std::vector<const Accelerator*> members_among(const std::vector<Accelerator>& listed,
                                              const core::Slot& slot) {
  std::vector<const Accelerator*> members;
  for (const auto& name : core::members_of(slot.name)) {
    const auto place = members.size();
    const auto identity =
        place < slot.identities.size() ? slot.identities[place] : core::DeviceIdentity{};
    const auto device = std::ranges::find_if(
        listed, [&](const auto& one) { return is_same_device(one, name, identity); });
    members.push_back(device == listed.end() ? nullptr : &*device);
  }
  return members;
}

}  // namespace

bool shows(const core::Slot& slot, const std::vector<Accelerator>& devices) {
  std::vector<Place> places;
  for (const auto& device : devices) places.push_back(place_of(device));
  const auto place = as_one(slot.name, places);
  // One that goes by the number alone has no mask.
  const bool masked = !core::variable(slot, core::unset_variable);
  return (!masked || has_mask_of(slot, place)) && has_number_of(slot, place);
}

std::optional<std::vector<Accelerator>> devices_of(const core::Slot& slot,
                                                   const std::vector<Accelerator>& listed) {
  std::vector<Accelerator> devices;
  for (const auto* device : members_among(listed, slot)) {
    if (!device) return {};
    devices.push_back(*device);
  }
  return devices;
}

std::string missing_of(const core::Slot& slot, const std::vector<Accelerator>& listed) {
  const auto members = members_among(listed, slot);
  const auto missing = std::ranges::find(members, nullptr);
  if (missing == members.end()) return {};
  return core::members_of(slot.name)[static_cast<std::size_t>(missing - members.begin())];
}

bool is_masked_by_uuid(const core::Slot& slot) {
  const auto* kind = core::find_device_kind(core::kind_of(slot.name));
  const auto* mask = kind ? core::variable(slot, kind->mask) : nullptr;
  return mask && !slot.identities.empty() &&
         std::ranges::all_of(slot.identities, [&](const core::DeviceIdentity& identity) {
           return !identity.uuid.empty() && mask->find(identity.uuid) != mask->npos;
         });
}

Shown shown_to(const core::Slot& slot, const std::vector<Accelerator>& listed) {
  const auto is_of_kind = [&](const auto& one) { return one.kind == core::kind_of(slot.name); };
  if (slot.identities.size() != core::members_of(slot.name).size() ||
      std::ranges::none_of(listed, is_of_kind))
    return Shown::own;
  const auto devices = devices_of(slot, listed);
  if (!devices) return Shown::missing;
  return shows(slot, *devices) ? Shown::own : Shown::others;
}

bool keep_numbers(std::vector<Accelerator>& found, const Identities& had) {
  const auto had_as = [&](const Accelerator& device) {
    return std::ranges::find_if(
        had, [&](const auto& one) { return is_same_device(device, one.first, one.second); });
  };
  std::set<int> taken, found_again;
  for (const auto& [name, identity] : had) taken.insert(core::index_of(name));
  for (const auto& device : found)
    if (const auto same = had_as(device); same != had.end())
      found_again.insert(core::index_of(same->first));
  // One that is lost does not say which it is: most likely the one that had the number.
  const auto keeps_its_number = [&](const Accelerator& device) {
    return device.uuid.empty() && device.pci.empty() && !found_again.contains(device.index);
  };
  for (const auto& device : found)
    if (keeps_its_number(device)) taken.insert(device.index);
  bool anew = false;
  for (auto& device : found) {
    const auto same = had_as(device);
    int number = device.index;
    if (same != had.end()) {
      number = core::index_of(same->first);
    } else if (!keeps_its_number(device) && !taken.insert(number).second) {
      number = *taken.rbegin() + 1;
      taken.insert(number);
    }
    anew = anew || number != device.index;
    device.index = number;
  }
  return anew;
}

}  // namespace evolve::devices

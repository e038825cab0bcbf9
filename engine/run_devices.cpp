// How a run follows its devices: what its `devices` file asks for, and what drivers number anew.

#include <algorithm>
#include <boost/algorithm/string/join.hpp>

#include "core/device_kind.hpp"
#include "core/error.hpp"
#include "engine/run.hpp"

namespace evolve::engine {
namespace {

/// The slots, and the devices of each that has several.
std::set<std::string> with_members(const std::map<std::string, core::Slot>& slots) {
  std::set<std::string> all;
  for (const auto& [slot, _] : slots) {
    all.insert(slot);
    for (const auto& device : core::members_of(slot)) all.insert(device);
  }
  return all;
}

/// The first of these that is a slot, or a device that it has; null where there is none.
const std::string* first_in(const std::string& slot, const std::vector<std::string>& devices) {
  const auto members = core::members_of(slot);
  const auto found = std::ranges::find_if(devices, [&](const auto& device) {
    return device == slot || std::ranges::count(members, device) > 0;
  });
  return found == devices.end() ? nullptr : &*found;
}

}  // namespace

void Run::follow_devices() {
  if (!device_file_) return;
  const auto request = device_file_->changed();
  if (!request && !fleet_.renumbered()) return;
  try {
    request ? change_devices(*request) : choose_anew();
  } catch (const Error& error) {
    if (error.fault() == Error::Fault::run) throw;
    if (request) device_file_->refused();
    observer_.on_devices_refused(error.what());
  }
}

void Run::remember_devices() {
  for (const auto& slot : slots_) had_.insert_or_assign(slot.name, slot);
}

void Run::change_devices(const DeviceRequest& request) {
  if (request.spec.find('\0') != std::string::npos)
    throw bad_argument("it is no plain text (UTF-16?)", "save it as UTF-8");
  if (request.spec.empty()) throw bad_argument("no device would be left", "leave the run one");
  const auto known = with_members(had_);
  std::vector<std::string> taken;
  for (const auto& text : request.taken_at_once)
    for (const auto& device : devices_named(text, known)) taken.push_back(device);
  const auto choice = choice_of(request.spec, /*renumbered=*/false);
  std::map<std::string, int> slots;
  for (const auto& slot : choice.slots) ++slots[slot.name];
  // A device that is to join a new group may be taken away from what it trains now.
  const auto joins = [&](const std::string& slot) {
    return core::members_of(slot).size() > 1 && !had_.contains(slot);
  };
  for (const auto& [slot, _] : slots)
    if (const auto* device = joins(slot) ? nullptr : first_in(slot, taken))
      throw bad_argument("take " + *device + ": another line has it as a device of the run",
                         "leave one of the two");
  for (const auto& [device, count] : slots) workers_.limit(device, count);
  for (const auto& [device, _] : fleet_.change(choice.slots, choice.accelerators))
    workers_.limit(device, slots[device]);
  // One that had no slot any more may still be at its last trial.
  for (const auto& [slot, _] : had_)
    if (first_in(slot, taken)) workers_.limit(slot, 0, /*at_once=*/true);
  slots_ = choice.slots;
  remember_devices();
  record({slots_now(slots_)});
}

// Drivers are asked only where they must be: one may hang, and the run with it.
devices::Choice Run::choice_of(const std::string& spec, bool renumbered) const {
  devices::Had had{.slots = slots_, .renumbered = renumbered};
  for (const auto& [_, slot] : had_) (slot.job_step ? had.slots : had.earlier).push_back(slot);
  return settings_.choose_devices(spec, had);
}

// One that is missing keeps its slots: it may come back.
void Run::choose_anew() {
  auto there = slots_;
  std::erase_if(there, [&](const auto& slot) { return fleet_.is_missing(slot.name); });
  const auto choice = choice_of(boost::join(devices::items_of(there), ","), /*renumbered=*/true);
  for (auto& slot : slots_) {
    const auto now = std::ranges::find(choice.slots, slot.name, &core::Slot::name);
    if (now != choice.slots.end()) slot = *now;
  }
  fleet_.change(slots_, choice.accelerators);
  observer_.on_devices_renumbered();
}

results::DevicesChanged Run::slots_now(const std::vector<core::Slot>& slots) {
  return {devices::names_of(slots), devices::identity_texts(slots)};
}

void Run::record_devices() {
  const auto now = slots_now(slots_);
  if (!state_.finished() && now != state_.devices()) record({now});
}

}  // namespace evolve::engine

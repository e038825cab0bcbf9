#include "engine/fleet.hpp"

#include <algorithm>
#include <chrono>
#include <span>

#include "core/device_kind.hpp"
#include "devices/numbering.hpp"
#include "devices/slots.hpp"

namespace evolve::engine {
namespace {

/// How often drivers are asked, and how soon again when something waits for the answer.
constexpr std::chrono::seconds often{30}, soon{1};
/// How long a driver may be silent that may number its devices anew.
constexpr std::chrono::seconds longest_silence{30};

/// Of another machine.
bool is_elsewhere(const core::Slot& slot) {
  return slot.remote_shell || slot.job_step;
}

/// A driver of this machine has told which devices these are.
bool is_known(const core::Slot& slot) {
  return !slot.identities.empty() && !is_elsewhere(slot);
}

/// The kinds whose drivers can be asked.
std::vector<std::string> kinds_of(const std::vector<core::Slot>& slots,
                                  const std::vector<devices::Accelerator>& found) {
  std::set<std::string> kinds;
  for (const auto& slot : slots)
    if (is_known(slot)) kinds.insert(core::kind_of(slot.name));
  for (const auto& accelerator : found) kinds.insert(accelerator.kind);
  return {kinds.begin(), kinds.end()};
}

/// The slot's device, or its devices as one, in what the drivers say; nothing when one is missing.
std::optional<devices::Accelerator> device_of(const core::Slot& slot,
                                              const std::vector<devices::Accelerator>& sample) {
  const auto members = devices::devices_of(slot, sample);
  return members ? std::optional(devices::together(*members)) : std::nullopt;
}

/// Whether the device's driver has said anything.
bool lists_kind_of(const std::string& device, const std::vector<devices::Accelerator>& sample) {
  return std::ranges::count(sample, core::kind_of(device), &devices::Accelerator::kind) > 0;
}

/// Of a slot, or of the one device of a group that it is about.
std::string not_listed_reason(const core::Slot& slot,
                              const std::vector<devices::Accelerator>& sample) {
  const auto gone = devices::missing_of(slot, sample);
  return "its driver no longer lists " + (gone == slot.name ? "it" : gone);
}

std::string out_of_order_reason(const core::Slot& slot,
                                const std::vector<devices::Accelerator>& sample) {
  const auto members = devices::devices_of(slot, sample).value();
  const auto& broken = *std::ranges::find_if_not(members, &devices::Accelerator::ok);
  const bool alone = members.size() == 1;
  return "its driver says" + (alone ? "" : " of " + name_of(broken)) + ": " + broken.state;
}

/// Those of other machines.
std::set<std::string> elsewhere_of(const std::vector<core::Slot>& slots) {
  std::set<std::string> names;
  for (const auto& slot : slots)
    if (is_elsewhere(slot)) names.insert(slot.name);
  return names;
}

results::DeviceStats stats_of(const std::string& device, const devices::Accelerator& accelerator) {
  return {.device = device,
          .state = accelerator.state,
          .memory_total_bytes = accelerator.memory_total_bytes,
          .memory_free_bytes = accelerator.memory_free_bytes,
          .load_percent = accelerator.load_percent,
          .temperature_celsius = accelerator.temperature_celsius,
          .power_watts = accelerator.power_watts};
}

/// Without those in `others`.
template <class Names>
std::vector<std::string> without(std::vector<std::string> names, const Names& others) {
  std::erase_if(names, [&](const auto& name) { return std::ranges::count(others, name) > 0; });
  return names;
}

}  // namespace

Fleet::Fleet(std::vector<core::Slot> slots, const std::vector<devices::Accelerator>& found,
             const std::map<std::string, int>& limits,
             std::function<core::WorkerCount(const std::string&)> count)
    : pool_(std::move(slots)),
      count_(std::move(count)),
      health_(devices::names_of(pool_.slots()), elsewhere_of(pool_.slots())),
      sampler_(kinds_of(pool_.slots(), found)) {
  for (const auto& [device, trials] : limits) devices_[device].limit = trials;
  index_devices(found);
  take_sample(found);
}

void Fleet::index_devices(const std::vector<devices::Accelerator>& found) {
  std::map<std::string, core::Slot> first;
  for (const auto& slot : pool_.slots()) first.emplace(slot.name, slot);
  for (const auto& [name, _] : first) devices_[name];  // those that are new
  leaving_.clear();
  for (auto& [name, device] : devices_) {
    const auto now = first.find(name);
    const auto slot = now == first.end() ? std::nullopt : std::optional(now->second);
    // What was chosen anew shows what it should.
    device.in_doubt = device.in_doubt && slot && slot == device.slot;
    device.sampled = slot && (is_known(*slot) || device_of(*slot, found));
    device.slot = slot;
    if (!slot && device.running > 0) leaving_.insert(name);
  }
}

std::map<std::string, int> Fleet::change(const std::vector<core::Slot>& slots,
                                         const std::vector<devices::Accelerator>& found) {
  std::map<std::string, int> fewer;
  for (const auto& slot : pool_.slots()) ++fewer[slot.name];
  for (const auto& slot : slots) --fewer[slot.name];
  std::erase_if(fewer, [](const auto& one) { return one.second <= 0; });
  pool_.change(slots);
  sampler_.change(kinds_of(slots, found));
  index_devices(found);
  renumbered_ = false;
  wanted_ = true;
  for (const auto& device : health_.change(devices::names_of(slots), elsewhere_of(slots)))
    news_.push_back(results::DeviceBroughtBack{.device = device});
  no_usable_device_ = health_.none_left() ? "every device that is left gets no further trial" : "";
  return fewer;
}

std::optional<core::Lease> Fleet::lease(const std::vector<std::string>& failed_on) {
  // Only a trial that has failed chooses: of a thousand devices nobody looks at all for each trial.
  const auto among = failed_on.empty() ? std::vector<std::string>() : eligible(failed_on);
  std::optional<bool> judged;
  // A device that fails whatever it gets would have all trials bred before another one has ended.
  const auto awaits_others = [&](const std::string& device) {
    if (!failed_on.empty() || !health_.undecided(device)) return false;
    if (!judged) judged = has_judge();
    return *judged;
  };
  return pool_.try_lease([&](const core::Slot& slot) {
    const auto& device = slot.name;
    const auto& known = devices_.at(device);
    if (known.starting || !usable(device) || awaits_others(device)) return false;
    if (!failed_on.empty() && std::ranges::count(among, device) == 0) return false;
    if (known.limit && known.running >= *known.limit) return false;
    if (!needs_worker(device)) return true;
    const auto answer = memory_admission_.fits(device, count_(device));
    wanted_ = wanted_ || answer == devices::MemoryAdmission::Answer::unknown_yet;
    return answer == devices::MemoryAdmission::Answer::yes;
  });
}

std::vector<std::string> Fleet::eligible(const std::vector<std::string>& failed_on) {
  std::vector<std::string> all;
  for (const auto& [name, device] : devices_)
    if (device.slot && usable(name)) all.push_back(name);
  auto others = without(all, failed_on);
  if (others.empty()) others = without(all, std::span(failed_on).last(1));
  // What is wrong with a machine is wrong with all of its devices.
  auto elsewhere = others;
  std::erase_if(elsewhere, [&](const auto& device) { return is_on_machine_of(device, failed_on); });
  return !elsewhere.empty() ? elsewhere : others.empty() ? all : others;
}

bool Fleet::is_on_machine_of(const std::string& device,
                             const std::vector<std::string>& others) const {
  const auto machine_of = [&](const std::string& name) {
    const auto known = devices_.find(name);
    return known != devices_.end() && known->second.slot ? known->second.slot->machine : "";
  };
  const auto machine = machine_of(device);
  return !machine.empty() && std::ranges::count(others, machine, machine_of) > 0;
}

bool Fleet::has_another(const std::vector<std::string>& failed_on) {
  return std::ranges::any_of(devices_, [&](const auto& entry) {
    const auto& [name, device] = entry;
    return device.slot && std::ranges::count(failed_on, name) == 0 && usable(name);
  });
}

bool Fleet::has_judge() {
  return std::ranges::any_of(devices_, [&](const auto& entry) {
    const auto& [name, device] = entry;
    return device.slot && !health_.undecided(name) && usable(name);
  });
}

bool Fleet::usable(const std::string& device) {
  const auto& known = devices_.at(device);
  return !health_.quarantined(device) && Clock::now() >= known.resting_until &&
         !is_being_left(device) && !known.in_doubt && !full(device);
}

bool Fleet::full(const std::string& device) {
  const bool full = needs_worker(device) && memory_admission_.fits(device, count_(device)) ==
                                                devices::MemoryAdmission::Answer::full;
  auto& known = devices_.at(device);
  if (!full) {
    known.reported_full = false;
    return false;
  }
  wanted_ = true;
  if (count_(device).alive == 0 && !std::exchange(known.reported_full, true)) {
    const auto& said = known.said.value();
    news_.push_back(results::DeviceFull{.device = device,
                                        .memory_total_bytes = said.memory_total_bytes.value_or(0),
                                        .memory_free_bytes = said.memory_free_bytes.value_or(0)});
  }
  return true;
}

bool Fleet::is_missing(const std::string& device) const {
  const auto found = devices_.find(device);
  return found != devices_.end() && found->second.missing;
}

bool Fleet::is_being_left(const std::string& device) const {
  const auto members = core::members_of(device);
  return std::ranges::any_of(leaving_, [&](const auto& other) {
    return std::ranges::find_first_of(members, core::members_of(other)) != members.end();
  });
}

void Fleet::rest(const std::string& device, Clock::time_point until) {
  devices_.at(device).resting_until = until;
}

void Fleet::started(const std::string& device) {
  auto& known = devices_.at(device);
  ++known.running;
  known.starting = true;
  if (needs_worker(device)) memory_admission_.changed(device, Clock::now());
}

void Fleet::handed_over() {
  for (auto& [_, device] : devices_) device.starting = false;
}

void Fleet::ended(const hyp::Outcome& outcome, const std::vector<std::string>& failed_on) {
  const auto& device = outcome.device;
  auto& known = devices_.at(device);
  const int others = --known.running;
  if (others == 0) leaving_.erase(device);
  if (const auto* failed = std::get_if<hyp::Failed>(&outcome.result)) {
    memory_admission_.changed(device, Clock::now());
    if (failed->kind == hyp::FailureKind::device_lost && !failed->excused) mark_lost(device);
    if (failed->kind == hyp::FailureKind::oom && others > 0) {
      known.limit = others;
      health_.excuse(outcome.trial, device);
      news_.push_back(results::DeviceLimited{.device = device, .trials = others});
    }
  }
  for (const auto& each : health_.ended(outcome, failed_on, Clock::now())) blame(each);
}

void Fleet::excuse(int trial, const std::vector<std::string>& failed_on) {
  for (const auto& device : failed_on) health_.excuse(trial, device);
}

// Its driver may number the others anew.
void Fleet::mark_lost(const std::string& device) {
  for (auto& [name, other] : devices_)
    if (other.sampled && core::kind_of(name) == core::kind_of(device)) other.in_doubt = true;
  lost_ = Clock::now();
  wanted_ = true;
}

void Fleet::blame(const devices::Blame& blame) {
  news_.push_back(results::DeviceBlamed{
      .device = blame.device, .reason = blame.reason, .quarantined = blame.quarantined});
  if (blame.quarantined && health_.none_left())
    no_usable_device_ =
        blame.device + " gets no further trial: " + blame.reason + ", and no other device is left";
}

std::vector<results::Event> Fleet::watch() {
  if (const auto sample = sampler_.answer()) take_sample(*sample);
  // Nobody can be asked about another machine's device: a trial has to tell.
  const auto rested = health_.rested(Clock::now());
  auto elsewhere = rested;
  std::erase_if(elsewhere, [&](const auto& device) { return devices_.at(device).sampled; });
  for (const auto& device : elsewhere) bring_back(device);
  const bool hurry = wanted_ || elsewhere.size() < rested.size();
  if (!sampler_.asking() && Clock::now() >= asked_ + (hurry ? soon : often)) ask_drivers();
  return std::exchange(news_, {});
}

void Fleet::ask_drivers() {
  asked_ = Clock::now();
  for (auto& [name, device] : devices_)
    if (device.sampled) device.count_when_asked = count_(name);
  sampler_.ask();
}

void Fleet::check_numbers(const std::vector<devices::Accelerator>& sample) {
  renumbered_ = false;
  for (auto& [name, device] : devices_) {
    const bool doubted = std::exchange(device.in_doubt, false);
    const bool missed = std::exchange(device.missing, false);
    if (!device.sampled) continue;
    const auto shown = devices::shown_to(*device.slot, sample);
    const auto now = device_of(*device.slot, sample);
    const bool out_of_order = now && !now->ok();
    // As long as it does not say how it numbers the others now, theirs may be wrong.
    const bool unanswered =
        doubted && !lists_kind_of(name, sample) && !devices::is_masked_by_uuid(*device.slot);
    device.silent_since = unanswered ? device.silent_since.value_or(Clock::now())
                                     : std::optional<Clock::time_point>();
    device.missing = shown == devices::Shown::missing || out_of_order || unanswered;
    device.in_doubt = shown != devices::Shown::own || out_of_order || unanswered;
    renumbered_ = renumbered_ || (shown == devices::Shown::others && !out_of_order);
    if (!device.missing) continue;
    // A driver may be wrong once, and silent for a while.
    if (!missed || (unanswered && Clock::now() < *device.silent_since + longest_silence)) {
      wanted_ = true;
      continue;
    }
    const auto reason = unanswered     ? "its driver does not answer"
                        : out_of_order ? out_of_order_reason(*device.slot, sample)
                                       : not_listed_reason(*device.slot, sample);
    for (const auto& each : health_.quarantine(name, reason, Clock::now())) blame(each);
  }
}

void Fleet::take_sample(const std::vector<devices::Accelerator>& sample) {
  // What was asked before a device was lost does not tell how the others are numbered now.
  wanted_ = lost_ && asked_ < *lost_;
  if (!wanted_) check_numbers(sample);
  const bool journal = !journaled_ || asked_ >= *journaled_ + often;
  const auto rested = health_.rested(Clock::now());
  for (auto& [name, device] : devices_) {
    if (!device.sampled) continue;
    const auto found = device_of(*device.slot, sample);
    if (std::ranges::count(rested, name) > 0) {
      if (found && found->ok())
        bring_back(name);
      else
        health_.rest_again(name, Clock::now());
    }
    if (!found) {  // nothing is known: nothing is full
      memory_admission_.sampled(name, device.count_when_asked, {}, {}, asked_);
      continue;
    }
    memory_admission_.sampled(name, device.count_when_asked, found->memory_total_bytes,
                              found->memory_free_bytes, asked_);
    device.said = *found;
    if (journal) news_.push_back(stats_of(name, *found));
  }
  if (journal) journaled_ = asked_;
}

void Fleet::bring_back(const std::string& device) {
  health_.bring_back(device);
  no_usable_device_.clear();  // a trial under way may have outlasted its rest
  news_.push_back(results::DeviceBroughtBack{.device = device});
}

}  // namespace evolve::engine

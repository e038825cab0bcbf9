#include "cli/fleet.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace evolve::cli {
namespace {

using Json = nlohmann::ordered_json;
using std::chrono::seconds;

/// How often drivers are asked, and how soon again when something waits for the answer.
constexpr seconds often{30}, soon{1};

std::string kind_of(const std::string& device) {
  return device.substr(0, device.find(':'));
}

/// So many attempts in a row that no worker took up, on whatever device, are no accident: a further
/// one would only turn the run's trials into failures.
constexpr int most_never_ready = 30;

/// The kinds whose drivers can be asked.
std::vector<std::string> kinds_of(const std::vector<devices::Accelerator>& found) {
  std::set<std::string> kinds;
  for (const auto& accelerator : found) kinds.insert(accelerator.kind);
  return {kinds.begin(), kinds.end()};
}

bool is_of(const devices::Accelerator& accelerator, const core::Slot& slot) {
  if (accelerator.kind != kind_of(slot.name)) return false;
  // Where one is lost, the others may be numbered anew.
  if (!slot.uuid.empty()) return accelerator.uuid == slot.uuid;
  if (!slot.pci.empty()) return accelerator.pci == slot.pci;
  return devices::name_of(accelerator) == slot.name;
}

std::vector<std::string> names_of(const std::vector<core::Slot>& slots) {
  std::set<std::string> names;
  for (const auto& slot : slots) names.insert(slot.name);
  return {names.begin(), names.end()};
}

Json stats_event(const std::string& device, const devices::Accelerator& accelerator) {
  Json event = {{"event", "device_stats"}, {"device", device}};
  const auto all = devices::to_json(accelerator);
  for (const auto* key : {"state", "memory_total_bytes", "memory_free_bytes", "load_percent",
                          "temperature_celsius", "power_watts"})
    event[key] = all.at(key);
  const auto now = std::chrono::floor<seconds>(std::chrono::system_clock::now());
  event["time"] = fmt::format("{:%FT%TZ}", fmt::gmtime(now));
  return event;
}

std::string gib(std::int64_t bytes) {
  return fmt::format("{:.1f}", static_cast<double>(bytes) / (1 << 30));
}

/// Without those in `others`.
std::vector<std::string> without(std::vector<std::string> names,
                                 std::span<const std::string> others) {
  std::erase_if(names, [&](const auto& name) { return std::ranges::count(others, name) > 0; });
  return names;
}

}  // namespace

Fleet::Fleet(std::vector<core::Slot> slots, const std::vector<devices::Accelerator>& found,
             std::function<core::WorkerCount(const std::string&)> crew)
    : pool_(std::move(slots)),
      crew_(std::move(crew)),
      health_(names_of(pool_.slots())),
      sampler_(kinds_of(found)) {
  for (const auto& slot : pool_.slots()) devices_.emplace(slot.name, &slot);
  for (const auto& accelerator : found) sampled_.insert(devices::name_of(accelerator));
  take(found);
}

std::optional<core::Lease> Fleet::lease(const std::vector<std::string>& failed_on) {
  const auto among = eligible(failed_on);
  auto lease = pool_.try_lease([&](const core::Slot& slot) {
    const auto& device = slot.name;
    const auto limit = limits_.find(device);
    if (std::ranges::count(among, device) == 0) return false;
    if (limit != limits_.end() && running_[device] >= limit->second) return false;
    if (!needs_worker(device)) return true;
    const auto answer = memory_admission_.fits(device, crew_(device));
    wanted_ = wanted_ || answer == devices::MemoryAdmission::Answer::unknown_yet;
    return answer == devices::MemoryAdmission::Answer::yes;
  });
  if (lease && needs_worker((*lease)->name)) memory_admission_.changed((*lease)->name, Clock::now());
  return lease;
}

std::vector<std::string> Fleet::eligible(const std::vector<std::string>& failed_on) {
  std::vector<std::string> all;
  for (const auto& [device, slot] : devices_)
    if (!health_.quarantined(device) && !full(device)) all.push_back(device);
  if (failed_on.empty()) return all;
  auto others = without(all, failed_on);
  if (others.empty()) others = without(all, std::span(failed_on).last(1));
  return others.empty() ? all : others;
}

bool Fleet::full(const std::string& device) {
  const bool full =
      needs_worker(device) && memory_admission_.fits(device, crew_(device)) == devices::MemoryAdmission::Answer::full;
  if (!full) {
    said_full_.erase(device);
    return false;
  }
  wanted_ = true;
  if (crew_(device).alive == 0 && said_full_.insert(device).second) {
    const auto& last = last_.at(device);
    news_.lines.push_back(fmt::format("{} is full ({} of {} GiB free): it waits for room", device,
                                      gib(last.memory_free_bytes.value_or(0)),
                                      gib(last.memory_total_bytes.value_or(0))));
  }
  return true;
}

void Fleet::tell(const hyp::Outcome& outcome, const std::vector<std::string>& failed_on) {
  const auto& device = outcome.device;
  const int others = --running_[device];
  const auto* failed = std::get_if<hyp::Failed>(&outcome.result);
  failed_before_ready_ = failed && failed->failed_before_ready ? failed_before_ready_ + 1 : 0;
  if (failed_before_ready_ >= most_never_ready)
    no_usable_device_ =
        fmt::format("no worker became ready in {} attempts: {}", failed_before_ready_, failed->message);
  if (failed) {
    memory_admission_.changed(device, Clock::now());
    if (failed->kind == hyp::FailureKind::oom && others > 0) {
      limits_[device] = others;
      health_.excuse(outcome.trial, device);
      news_.events.push_back({{"event", "limited"}, {"device", device}, {"trials", others}});
      news_.lines.push_back(
          fmt::format("{} has no memory for {} trials at a time: it gets {} from now on", device,
                      others + 1, others));
    }
  }
  for (const auto& each : health_.tell(outcome, failed_on, Clock::now())) blame(each);
}

void Fleet::blame(const devices::Blame& blame) {
  const auto* event = blame.quarantined ? "quarantined" : "blamed";
  news_.events.push_back({{"event", event}, {"device", blame.device}, {"reason", blame.reason}});
  if (!blame.quarantined) return;
  const auto text = blame.device + " gets no further trial: " + blame.reason;
  news_.lines.push_back(text);
  if (health_.none_left()) no_usable_device_ = text + ", and no other device is left";
}

DeviceNews Fleet::watch() {
  if (const auto sample = sampler_.answer()) take(*sample);
  const bool hurry = wanted_ || !health_.rested(Clock::now()).empty();
  if (!sampler_.asking() && Clock::now() >= asked_ + (hurry ? soon : often)) ask();
  return std::exchange(news_, {});
}

void Fleet::ask() {
  asked_ = Clock::now();
  for (const auto& device : sampled_) crews_[device] = crew_(device);
  sampler_.ask();
}

void Fleet::take(const std::vector<devices::Accelerator>& sample) {
  wanted_ = false;
  const bool journal = !journaled_ || asked_ >= *journaled_ + often;
  for (const auto& device : sampled_) {
    const auto& slot = *devices_.at(device);
    const auto found = std::ranges::find_if(
        sample, [&](const auto& accelerator) { return is_of(accelerator, slot); });
    if (found == sample.end()) {  // nothing is known: nothing is full
      memory_admission_.tell(device, crews_[device], {}, {}, asked_);
      last_.erase(device);
      continue;
    }
    memory_admission_.tell(device, crews_[device], found->memory_total_bytes, found->memory_free_bytes, asked_);
    last_[device] = *found;
    if (journal) news_.events.push_back(stats_event(device, *found));
    const auto rested = health_.rested(Clock::now());
    if (std::ranges::count(rested, device) == 0 || !found->ok()) continue;
    health_.bring_back(device);
    news_.events.push_back({{"event", "brought_back"}, {"device", device}});
    news_.lines.push_back(device + " is back: its driver says that it works");
  }
  if (journal) journaled_ = asked_;
}

std::string Fleet::standing(const std::string& device) const {
  const auto found = last_.find(device);
  if (found == last_.end()) return device;
  const auto& last = found->second;
  std::vector<std::string> parts;
  if (last.load_percent) parts.push_back(fmt::format("{:.0f} %", *last.load_percent));
  if (last.temperature_celsius)
    parts.push_back(fmt::format("{:.0f} °C", *last.temperature_celsius));
  if (last.power_watts) parts.push_back(fmt::format("{:.0f} W", *last.power_watts));
  if (last.memory_total_bytes && last.memory_free_bytes)
    parts.push_back(gib(*last.memory_total_bytes - *last.memory_free_bytes) + " GiB");
  if (parts.empty()) return device;
  return fmt::format("{} ({})", device, fmt::join(parts, ", "));
}

}  // namespace evolve::cli

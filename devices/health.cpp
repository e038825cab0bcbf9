#include "devices/health.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "core/device_kind.hpp"

namespace evolve::devices {
namespace {

constexpr int blames_for_quarantine = 2;

/// So many trials that fail at once are seldom all to blame themselves.
constexpr std::size_t most_undecided = 3;

/// How long a device that is quarantined for the first time is left alone; twice as long after each
/// further time.
constexpr std::chrono::seconds first_rest{15};

}  // namespace

Health::Health(const std::vector<std::string>& devices, const std::set<std::string>& elsewhere) {
  change(devices, elsewhere);
}

std::vector<std::string> Health::change(const std::vector<std::string>& devices,
                                        const std::set<std::string>& elsewhere) {
  std::vector<std::string> brought_back;
  for (const auto& device : devices) {
    auto& state = states_[device];
    if (state.gone && state.quarantined) {
      bring_back(device);
      brought_back.push_back(device);
    }
    // Another machine may be down.
    state.never_blamed = core::is_cpu(device) && !elsewhere.contains(device);
  }
  const std::set present(devices.begin(), devices.end());
  for (auto& [device, state] : states_) state.gone = !present.contains(device);
  return brought_back;
}

std::vector<Blame> Health::ended(const hyp::Outcome& outcome,
                                 const std::vector<std::string>& failed_on, Clock::time_point now) {
  std::vector<Blame> blames;
  for (auto& [device, state] : states_) state.undecided.erase(outcome.trial);
  if (const auto* failed = std::get_if<hyp::Failed>(&outcome.result)) {
    if (failed->excused) return blames;
    if (failed->epoch > 0) states_.at(outcome.device).undecided.clear();
    const bool lost = failed->kind == hyp::FailureKind::device_lost;
    if (lost || failed->failed_before_ready || failed->of_surroundings)
      settled_.emplace(outcome.trial, outcome.device);
    if (failed->not_started) return blames;
    if (lost) {
      blame(outcome.device, "it was lost: " + failed->message, now, blames);
    } else if (failed->failed_before_ready) {
      blame(outcome.device, failed->message, now, blames);
    } else if (failed->of_surroundings && !failed->unconfirmed) {
      surroundings_failed(outcome, failed->message, now, blames);
    } else if (hyp::is_unexplained(failed->kind) && !failed->final && failed->epoch == 0 &&
               failed_on.empty()) {
      states_.at(outcome.device).undecided.insert(outcome.trial);
    }
    return blames;
  }
  for (auto& [device, state] : states_) state.others_do_well = true;
  auto& trained = states_.at(outcome.device);
  trained.blames = 0;
  trained.surroundings_failed = false;
  trained.undecided.clear();
  for (const auto& device : std::set(failed_on.begin(), failed_on.end())) {
    if (device == outcome.device || !states_.contains(device)) continue;
    if (settled_.contains({outcome.trial, device})) continue;
    blame(device,
          fmt::format("trial {} failed on it and then ended well on {}", outcome.trial,
                      outcome.device),
          now, blames);
  }
  return blames;
}

std::vector<Blame> Health::quarantine(const std::string& device, const std::string& reason,
                                      Clock::time_point now) {
  std::vector<Blame> blames;
  auto& state = states_.at(device);
  state.blames = std::max(state.blames, blames_for_quarantine - 1);
  blame(device, reason, now, blames);
  return blames;
}

void Health::surroundings_failed(const hyp::Outcome& outcome, const std::string& message,
                                 Clock::time_point now, std::vector<Blame>& blames) {
  auto& state = states_.at(outcome.device);
  if (state.surroundings_failed && state.others_do_well)
    blame(outcome.device, "trials end well on others only: " + message, now, blames);
  state.surroundings_failed = true;
  state.others_do_well = false;
}

void Health::blame(const std::string& device, const std::string& reason, Clock::time_point now,
                   std::vector<Blame>& blames) {
  auto& state = states_.at(device);
  if (state.never_blamed || state.quarantined || state.gone) return;
  ++state.blames;
  state.quarantined = state.blames >= blames_for_quarantine;
  if (state.quarantined) {
    ++state.quarantines;
    state.since = now;
  }
  blames.push_back({.device = device, .reason = reason, .quarantined = state.quarantined});
}

bool Health::undecided(const std::string& device) const {
  const auto& state = states_.at(device);
  return !state.never_blamed && state.undecided.size() >= most_undecided;
}

bool Health::none_left() const {
  return std::ranges::all_of(
      states_, [](const auto& entry) { return entry.second.quarantined || entry.second.gone; });
}

std::vector<std::string> Health::rested(Clock::time_point now) const {
  std::vector<std::string> devices;
  for (const auto& [device, state] : states_) {
    if (!state.quarantined || state.gone) continue;
    const auto rest = first_rest * (1 << std::min(state.quarantines - 1, 12));
    if (now >= state.since + rest) devices.push_back(device);
  }
  return devices;
}

void Health::bring_back(const std::string& device) {
  auto& state = states_.at(device);
  state.quarantined = false;
  // Whatever ended well on it meanwhile: with one more it is quarantined again.
  state.blames = blames_for_quarantine - 1;
}

}  // namespace evolve::devices

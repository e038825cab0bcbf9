#include "cli/evolve/idle_devices.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/device_kind.hpp"

namespace evolve::cli {
namespace {

constexpr int enough_looks = 10;
constexpr double half_busy = 50;

/// Of what is under way on a device, how much is past its first epoch here: before that its worker
/// starts, and images are decoded.
std::ptrdiff_t training(const std::vector<workers::Progress>& under_way,
                        const std::string& device) {
  return std::ranges::count_if(under_way, [&](const workers::Progress& one) {
    return one.device == device && one.epoch > one.start_epoch;
  });
}

bool may_have_more(const std::string& device, std::ptrdiff_t more, int cores,
                   const engine::RunState& state) {
  const auto slots = std::ssize(state.devices().slots);
  const auto lag = state.evolution().settings().lag;
  return core::members_of(device).size() == 1 && !state.trial_limits().contains(device) &&
         slots + more <= cores && (!lag || slots + more <= *lag);
}

}  // namespace

std::optional<std::string> IdleDevices::on(const results::DeviceStats& stats,
                                           const engine::RunState& state,
                                           const std::vector<workers::Progress>& under_way,
                                           const std::string& devices_file) {
  const auto slots = std::ranges::count(state.devices().slots, stats.device);
  if (!stats.load_percent || slots == 0 || training(under_way, stats.device) < slots) return {};
  Looks& looks = looks_[stats.device];
  if (looks.slots != slots) looks = {.slots = slots};
  looks.load += *stats.load_percent;
  if (stats.memory_total_bytes && stats.memory_free_bytes)
    looks.has_room &= 2 * *stats.memory_free_bytes > *stats.memory_total_bytes;
  if (++looks.count != enough_looks) return {};
  const double load = looks.load / enough_looks;
  if (load >= half_busy || !looks.has_room || !may_have_more(stats.device, slots, cores_, state))
    return {};
  return fmt::format(
      "{} was busy {:.0f} % in {} looks while it trained: with {} trials at a time it may train "
      "more; for that let its line in {} be {}*{}",
      stats.device, load, enough_looks, 2 * slots, devices_file, stats.device, 2 * slots);
}

}  // namespace evolve::cli

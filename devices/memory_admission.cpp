#include "devices/memory_admission.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace evolve::devices {
namespace {

/// In so long a worker that trains comes to hold the most that it needs: what was seen before may
/// have been another program's.
constexpr std::chrono::minutes stretch{10};

}  // namespace

void MemoryAdmission::changed(const std::string& device, Clock::time_point now) {
  if (const auto known = states_.find(device); known != states_.end()) known->second.changed = now;
}

void MemoryAdmission::sampled(const std::string& device, const core::WorkerCount& workers,
                              std::optional<std::int64_t> total_bytes,
                              std::optional<std::int64_t> free_bytes, Clock::time_point asked) {
  auto& state = states_[device];
  state.total = total_bytes;
  state.free = free_bytes;
  state.asked = asked;
  state.grown = workers.grown;
  if (!free_bytes) return;
  if (workers.alive == 0) {
    state.free_without_us = free_bytes;
  } else if (workers.grown && state.free_without_us) {
    if (workers.idle == 0 && asked >= state.began + stretch) {
      state.earlier = std::exchange(state.need, 0);
      state.began = asked;
    }
    state.need = std::max(state.need, (*state.free_without_us - *free_bytes) / workers.alive);
  }
}

MemoryAdmission::Answer MemoryAdmission::fits(const std::string& device,
                                              const core::WorkerCount& workers) const {
  const auto found = states_.find(device);
  if (found == states_.end()) return Answer::yes;
  const auto& state = found->second;
  if (!state.total || !state.free) return Answer::yes;
  if (state.changed && *state.changed > state.asked) return Answer::unknown_yet;
  if (workers.alive > 0 && !state.grown) return Answer::unknown_yet;
  // Nobody knows whose what was seen to be held was: a device that is half free is tried.
  const bool waited = state.changed && *state.changed + stretch <= state.asked;
  if (workers.alive == 0 && waited && *state.free >= *state.total / 2) return Answer::yes;
  const auto least = workers.alive > 0 ? 0 : *state.total / 20;
  return *state.free >= std::max({state.need, state.earlier, least}) ? Answer::yes : Answer::full;
}

}  // namespace evolve::devices

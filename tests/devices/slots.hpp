// Slots chosen on machines that are made up.
#pragma once

#include <string>
#include <vector>

#include "devices/slots.hpp"
#include "tests/refusal.hpp"

namespace evolve::devices {

inline const Machine five{.cores = {0, 1, 4, 5, 8}, .usable_cores = 5};
inline const Machine two{.cores = {0, 1}, .usable_cores = 2};

inline std::vector<std::string> names(const std::vector<core::Slot>& slots) {
  std::vector<std::string> all;
  for (const auto& slot : slots) all.push_back(slot.name);
  return all;
}

inline std::string refused(const std::string& spec, const Machine& machine = two,
                           const TrainerTraits& trainer = {}) {
  return test::refusal([&] { choose(spec, machine, trainer); });
}

}  // namespace evolve::devices

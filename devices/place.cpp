#include "devices/place.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "core/slot_environment.hpp"

namespace evolve::devices {
namespace {

/// The masks of a group's devices as one: what each lists, in their order.
Variables joined(const std::vector<Place>& members) {
  auto mask = members.front().mask;
  for (const auto& member : std::span(members).subspan(1)) {
    for (const auto& [name, value] : member.mask) {
      const auto known = std::ranges::find(mask, name, &Variables::value_type::first);
      if (known == mask.end()) {
        mask.emplace_back(name, value);
      } else if (known->second != value) {
        known->second += "," + value;
      }
    }
  }
  return mask;
}

}  // namespace

Place place_of(const Accelerator& gpu, int trials) {
  return {.name = name_of(gpu),
          .kind = gpu.kind,
          .trials = trials,
          .mask = gpu.mask,
          .number = gpu.number,
          .gpus = {gpu}};
}

Place as_one(const std::string& name, const std::vector<Place>& members) {
  if (members.size() == 1) return members.front();
  Place place{.name = name,
              .kind = members.front().kind,
              .mask = joined(members),
              .devices = static_cast<int>(members.size())};
  std::vector<std::string> numbers;
  for (const auto& member : members) {
    if (!member.number.empty()) numbers.push_back(member.number);
    place.gpus.insert(place.gpus.end(), member.gpus.begin(), member.gpus.end());
  }
  if (numbers.size() == members.size()) place.number = fmt::format("{}", fmt::join(numbers, ","));
  return place;
}

bool has_mask_of(const core::Slot& slot, const Place& place) {
  return std::ranges::all_of(place.mask, [&](const auto& variable) {
    const auto* value = core::variable(slot, variable.first);
    return value && *value == variable.second;
  });
}

bool has_number_of(const core::Slot& slot, const Place& place) {
  const auto* number = core::variable(slot, core::index_variable);
  return (number ? *number : "") == place.number;
}

}  // namespace evolve::devices

#include "devices/pool.hpp"

#include <algorithm>
#include <list>
#include <utility>

namespace evolve::devices {

struct Pool::State {
  struct Place {
    core::Slot slot;
    bool lent = false;
    /// Lent, and not to be lent again.
    bool gone = false;
  };
  /// The places of leases stay where they are.
  std::list<Place> places;
};

Pool::Pool(std::vector<core::Slot> slots) : state_(std::make_shared<State>()) {
  for (auto& slot : slots) state_->places.push_back({.slot = std::move(slot)});
}

std::optional<core::Lease> Pool::try_lease(const std::function<bool(const core::Slot&)>& suits) {
  auto& places = state_->places;
  for (auto place = places.begin(); place != places.end(); ++place) {
    if (place->lent || !suits(place->slot)) continue;
    place->lent = true;
    // The lease shares the state, so that the slot it points to lives as long as it does.
    return core::Lease(&place->slot, [state = state_, place](const core::Slot*) {
      place->lent = false;
      if (place->gone) state->places.erase(place);
    });
  }
  return {};
}

void Pool::change(const std::vector<core::Slot>& slots) {
  auto& places = state_->places;
  auto wanted = slots;
  for (auto& place : places) {
    const auto found = std::ranges::find(wanted, place.slot.name, &core::Slot::name);
    place.gone = found == wanted.end();
    if (!place.gone) wanted.erase(found);
  }
  places.remove_if([](const auto& place) { return place.gone && !place.lent; });
  for (auto& slot : wanted) places.push_back({.slot = std::move(slot)});
}

std::vector<const core::Slot*> Pool::slots() const {
  std::vector<const core::Slot*> slots;
  for (const auto& place : state_->places)
    if (!place.gone) slots.push_back(&place.slot);
  return slots;
}

}  // namespace evolve::devices

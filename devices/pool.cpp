#include "devices/pool.hpp"

namespace evolve::devices {

struct Pool::State {
  std::vector<core::Slot> slots;
  std::vector<bool> lent;
};

Pool::Pool(std::vector<core::Slot> slots) : state_(std::make_shared<State>()) {
  state_->lent.resize(slots.size());
  state_->slots = std::move(slots);
}

std::optional<core::Lease> Pool::try_lease(const std::function<bool(const core::Slot&)>& suits) {
  for (std::size_t i = 0; i < state_->slots.size(); ++i) {
    if (state_->lent[i] || !suits(state_->slots[i])) continue;
    state_->lent[i] = true;
    // The lease shares the state, so that the slot it points to lives as long as it does.
    return core::Lease(&state_->slots[i],
                       [state = state_, i](const core::Slot*) { state->lent[i] = false; });
  }
  return {};
}

const std::vector<core::Slot>& Pool::slots() const {
  return state_->slots;
}

}  // namespace evolve::devices

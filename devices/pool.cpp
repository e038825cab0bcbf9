#include "devices/pool.hpp"

namespace evolve::devices {

struct Pool::State {
  std::vector<hyp::Slot> slots;
  std::vector<bool> lent;
};

Pool::Pool(std::vector<hyp::Slot> slots) : state_(std::make_shared<State>()) {
  state_->lent.resize(slots.size());
  state_->slots = std::move(slots);
}

std::optional<hyp::Lease> Pool::try_lease(const std::function<bool(const hyp::Slot&)>& suits) {
  for (std::size_t i = 0; i < state_->slots.size(); ++i) {
    if (state_->lent[i] || !suits(state_->slots[i])) continue;
    state_->lent[i] = true;
    // The lease shares the state, so that the slot it points to lives as long as it does.
    return hyp::Lease(&state_->slots[i],
                      [state = state_, i](const hyp::Slot*) { state->lent[i] = false; });
  }
  return {};
}

const std::vector<hyp::Slot>& Pool::slots() const {
  return state_->slots;
}

}  // namespace evolve::devices

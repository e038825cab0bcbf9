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

std::optional<hyp::Lease> Pool::try_lease(const std::string& avoid) {
  std::optional<std::size_t> choice;
  for (std::size_t i = 0; i < state_->slots.size(); ++i) {
    if (state_->lent[i]) continue;
    const bool welcome = state_->slots[i].name != avoid;
    if (welcome || !choice) choice = i;
    if (welcome) break;
  }
  if (!choice) return {};
  state_->lent[*choice] = true;
  // The lease shares the state, so that the slot it points to lives as long as it does.
  return hyp::Lease(&state_->slots[*choice],
                    [state = state_, i = *choice](const hyp::Slot*) { state->lent[i] = false; });
}

const std::vector<hyp::Slot>& Pool::slots() const {
  return state_->slots;
}

}  // namespace evolve::devices

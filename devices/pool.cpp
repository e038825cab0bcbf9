#include "devices/pool.hpp"

#include <algorithm>
#include <list>
#include <utility>

namespace evolve::devices {

struct Pool::State {
  struct Entry {
    core::Slot slot;
    bool lent = false;
    /// Lent, and not to be lent again.
    bool gone = false;
    /// Lent, and another once it is given up: a driver may have numbered its devices anew.
    std::optional<core::Slot> next = {};
  };
  /// The entries of leases stay where they are.
  std::list<Entry> entries;

  /// As many of that name are lent as there are now: one that has gone still counts.
  bool all_lent(const std::string& name) const {
    std::ptrdiff_t wanted = 0, lent = 0;
    for (const auto& entry : entries) {
      if (entry.slot.name != name) continue;
      wanted += !entry.gone;
      lent += entry.lent;
    }
    return lent >= wanted;
  }
};

Pool::Pool(std::vector<core::Slot> slots) : state_(std::make_shared<State>()) {
  for (auto& slot : slots) state_->entries.push_back({.slot = std::move(slot)});
}

std::optional<core::Lease> Pool::try_lease(const std::function<bool(const core::Slot&)>& suits) {
  auto& entries = state_->entries;
  const bool any_gone = std::ranges::any_of(entries, &State::Entry::gone);
  for (auto entry = entries.begin(); entry != entries.end(); ++entry) {
    if (entry->lent || !suits(entry->slot)) continue;
    if (any_gone && state_->all_lent(entry->slot.name)) continue;
    entry->lent = true;
    // The lease shares the state, so that the slot it points to lives as long as it does.
    return core::Lease(&entry->slot, [state = state_, entry](const core::Slot*) {
      entry->lent = false;
      if (entry->next) entry->slot = *std::exchange(entry->next, {});
      if (entry->gone) state->entries.erase(entry);
    });
  }
  return {};
}

void Pool::change(const std::vector<core::Slot>& slots) {
  auto& entries = state_->entries;
  auto wanted = slots;
  for (auto& entry : entries) {
    const auto found = std::ranges::find(wanted, entry.slot.name, &core::Slot::name);
    entry.gone = found == wanted.end();
    entry.next.reset();
    if (entry.gone) continue;
    (entry.lent ? entry.next.emplace() : entry.slot) = std::move(*found);
    wanted.erase(found);
  }
  entries.remove_if([](const auto& entry) { return entry.gone && !entry.lent; });
  for (auto& slot : wanted) entries.push_back({.slot = std::move(slot)});
}

std::vector<core::Slot> Pool::slots() const {
  std::vector<core::Slot> slots;
  for (const auto& entry : state_->entries)
    if (!entry.gone) slots.push_back(entry.next.value_or(entry.slot));
  return slots;
}

}  // namespace evolve::devices

// The slots of a run, lent one by one.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/slot.hpp"

namespace evolve::devices {

/// Lends each slot to one holder at a time. For one thread.
class Pool {
 public:
  explicit Pool(std::vector<core::Slot> slots);

  /// The first free slot that `suits`, or nothing. Giving up the lease frees the slot; it may
  /// outlive the pool.
  std::optional<core::Lease> try_lease(const std::function<bool(const core::Slot&)>& suits);

  /// Gives the pool these slots from now on. Slots of a name that there were keep their places,
  /// lent or not, as many as there are of it now; one that is lent is as it was until it is given
  /// up, and if it has gone it is not lent again, nor is another of its name in its place.
  void change(const std::vector<core::Slot>& slots);

  /// All slots, free or not, in the order in which they came, as they are lent from now on.
  std::vector<core::Slot> slots() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace evolve::devices

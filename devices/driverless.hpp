// Devices of kinds without a driver that evolve could ask: of these it knows what a mask shows.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "devices/machine.hpp"
#include "devices/place.hpp"
#include "devices/slots.hpp"
#include "devices/spec.hpp"

namespace evolve::devices {

/// For those who look for AMD's GPUs: no driver is asked for them.
inline const std::string amd_hint = "AMD's GPUs are named hip:0";

/// Finds the places of devices of kinds without a driver that evolve could ask. What it refers to
/// must outlive it. All of it throws std::invalid_argument as Chooser::places() does.
struct Driverless {
  const Machine& machine;
  const TrainerTraits& trainer;
  /// The specification has a device of a kind that evolve does not know: TrainerTraits::device_env
  /// is the variable of that one.
  bool names_unknown_kind = false;

  Place place_of(const Device& device) const;
  /// Places of as many devices of the kind as evolve's own mask shows.
  std::vector<Place> all_of(const std::string& kind) const;

 private:
  /// The variable that hides devices of such a kind; "" where there is none, and none is needed:
  /// for a trainer that goes by the machine's number.
  std::string variable_of(const std::string& kind) const;
  /// What a mask that we have ourselves shows of a kind; nothing: there is none.
  std::optional<std::vector<std::string>> shown(const std::string& kind,
                                                const std::string& variable) const;
  /// That our own variable does not show it.
  std::invalid_argument hidden(const std::string& name, const std::string& variable) const;
};

}  // namespace evolve::devices

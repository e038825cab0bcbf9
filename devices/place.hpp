// What a request of a specification comes to on this machine.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "core/slot.hpp"
#include "devices/accelerator.hpp"
#include "devices/environment.hpp"

namespace evolve::devices {

/// A device that was asked for, or a group.
struct Place {
  /// "cpu:0", "xpu:1", "xpu:0+xpu:1"
  std::string name;
  std::string kind;
  /// Trials at a time.
  int trials = 1;
  /// Shows a process this alone. Empty for a CPU.
  Variables mask = {};
  /// Its number on this machine, "0,1" of a group; empty when it has none.
  std::string number = {};
  /// What the driver says of each device, where there is one to ask.
  std::vector<Accelerator> gpus = {};
  /// How many devices it is.
  int devices = 1;
  /// A slot that the run has there; null for a new one.
  const core::Slot* had = nullptr;
};

Place place_of(const Accelerator& gpu, int trials = 1);

/// The devices of a group as one place, in their order; the only one as it is.
Place as_one(const std::string& name, const std::vector<Place>& members);

/// Whether a slot has the place's mask, and the machine's number of it.
bool has_mask_of(const core::Slot& slot, const Place& place);
bool has_number_of(const core::Slot& slot, const Place& place);

/// "there is no xpu:0 here (libze_loader.so.1 is not installed)"
inline std::invalid_argument absent(const std::string& name, const std::string& why = "") {
  return std::invalid_argument("there is no " + name + " here" +
                               (why.empty() ? "" : " (" + why + ")"));
}

}  // namespace evolve::devices

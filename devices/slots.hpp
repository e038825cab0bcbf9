// From a specification to places where a trial can run.
#pragma once

#include <string>
#include <vector>

#include "devices/machine.hpp"
#include "hyp/slot.hpp"

namespace evolve::devices {

/// `auto` makes no more CPU slots than this.
constexpr int most_automatic_slots = 16;

/// The slots that `--devices spec` means on this machine, in its order.
///
/// "cpu" is one slot with all cores. k slots "cpu:INDEX" get disjoint, equal shares of them, in the
/// order in which they are named: floor(usable_cores / k) threads, and floor(cores.size() / k)
/// cores to run them on. Throws `Error` (exit code 2) with the devices that exist when the
/// specification is malformed, or names a device that does not exist.
std::vector<hyp::Slot> choose(const std::string& spec, const Machine& machine);

/// The one slot of a single training: as choose(), but `auto` is one device with all its cores.
/// Throws `Error` also when the specification means several.
hyp::Slot choose_one(const std::string& spec, const Machine& machine);

/// What can be named: "cpu", "cpu:0", "cpu:1".
std::vector<std::string> device_names(const Machine& machine);

}  // namespace evolve::devices

// From a specification to places where a trial can run.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/slot.hpp"
#include "devices/machine.hpp"

namespace evolve::devices {

/// `auto` makes no more CPU slots than this.
constexpr int most_automatic_slots = 16;

/// Who will train on the devices.
struct TrainerTraits {
  /// The trainer is not the built-in one: it may know any kind of devices. The built-in one knows
  /// "cpu", and of "cuda", "xpu" and "hip" those that it `drives`.
  bool external = false;
  /// Takes the machine's own number of its device (core::index_variable) and hides the others
  /// itself: its environment has no mask, and core::unset_variable names what it must not have. A
  /// device that has no number is masked all the same.
  bool by_number = false;
  /// The variable that hides devices of kinds that evolve does not know; where none of these is
  /// asked for, those of the others without a driver too. "" for each kind's usual one.
  std::string device_env;
  /// Whether the trainer can use devices of a kind that is not "cpu". Asked only where there are
  /// some, or where they are named.
  std::function<bool(const std::string& kind)> drives = [](const std::string&) { return true; };
};

/// What is wrong where the trainer does not drive a kind of devices.
std::string not_driven(const std::string& kind);

struct Choice {
  std::vector<core::Slot> slots;
  /// The accelerators among their devices, as they were found.
  std::vector<Accelerator> accelerators = {};
  /// What was found and chosen, in lines for people.
  std::vector<std::string> notes;
};

/// The slots of a run that goes on.
struct Had {
  std::vector<core::Slot> slots = {};
  /// Drivers may have numbered their devices anew: they are asked of those of these slots, too.
  bool renumbered = false;
  /// Slots that the run had before: their names mean no other device.
  std::vector<core::Slot> earlier = {};
};

/// The slots that `--devices spec` means on this machine, in its order, a device with several
/// trials at a time once for each.
///
/// "cpu" is one slot with all cores. k slots "cpu:INDEX" get disjoint, equal shares of them, in the
/// order in which they are named: floor(usable_cores / k) threads, and floor(cores.size() / k)
/// cores to run them on; a group "cpu:0+cpu:1" has the cores of all, and the threads of one: each
/// has a process. A GPU's slot may use all cores, with its share of the threads.
///
/// Only drivers that the specification asks for are asked: those of the kinds that it names; for
/// "0" and "-1" NVIDIA's and, if that has none, Intel's, and the same for "auto", which passes over
/// devices that the trainer cannot use, and says so. Throws `Error` (exit code 2) with the devices
/// that exist when the specification is malformed, or names a device that does not exist, that is
/// out of order, or that the trainer does not know.
///
/// As far as a driver has told the devices of the slots that a run `had`, or a job has them
/// elsewhere, their names stay these devices', whatever number the driver gives them now: such a
/// slot is had again, be its device there or not, and no other name means one of these devices.
Choice choose(const std::string& spec, const Machine& machine, const TrainerTraits& trainer,
              const Had& had = {});

/// The one slot of a single training: as choose(), but `auto` is the first GPU, else all cores.
/// Throws `Error` also when the specification means several.
Choice choose_one(const std::string& spec, const Machine& machine, const TrainerTraits& trainer);

/// The slots' names in their order, a name as often as there are slots of it.
std::vector<std::string> names_of(const std::vector<core::Slot>& slots);

/// The specification that means these, item by item: "cpu:0", "xpu:1*2".
std::vector<std::string> items_of(const std::vector<core::Slot>& slots);

/// Which devices the slots are on, in their order, whatever their names: the UUID, or else the PCI
/// address, of a group "A+B"; "" where no driver tells. None at all where none does.
std::vector<std::string> identity_texts(const std::vector<core::Slot>& slots);

/// Throws `Error` where a run had slots on GPUs and what names no kind ("auto", "slurm", "-1", "0")
/// finds none of theirs now: their driver fails, and a run that goes on with others, or the CPU,
/// would do so unnoticed.
void check_no_fallback(const std::string& spec, const std::vector<std::string>& had,
                       const Choice& now);

}  // namespace evolve::devices

// Resolves the requests of a specification to devices of the machine.
#pragma once

#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "devices/environment.hpp"
#include "devices/machine.hpp"
#include "devices/slots.hpp"
#include "devices/spec.hpp"

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

class Chooser {
 public:
  /// `one`: `auto` means one device. `had`: see choose(). All but `one` must outlive the chooser.
  Chooser(const Machine& machine, const TrainerTraits& trainer, bool one,
          const std::vector<core::Slot>& had);

  /// The devices of all requests, in their order. Throws std::invalid_argument, in words that can
  /// follow "--devices SPEC: ".
  std::vector<Place> places(const std::vector<Request>& requests);

  /// All that can be named instead, of the kinds that `spec` mentions, of all when it mentions
  /// none: "cpu", "cpu:0", "xpu:0".
  std::vector<std::string> names(const std::string& spec);

  /// What was found and chosen, in lines for people.
  std::vector<std::string> notes;

 private:
  const Discovery& found(const std::string& kind);
  /// The place of the run's slot of such a name; nothing when it has none, or no driver told its
  /// devices.
  std::optional<Place> had_place(const std::string& name, int trials) const;
  /// Throws when the trainer cannot use devices of this kind.
  void require_driven(const std::string& kind) const;
  /// NVIDIA's driver, or Intel's when that has no device. Throws that there is no `name` when
  /// neither has.
  const Discovery& found_gpus(const std::string& name);
  /// Those that can work, without GPUs that share the host's memory where others do not.
  std::vector<Accelerator> workable(const Discovery& discovery) const;
  void note_left_out(const Discovery& discovery, const std::vector<Accelerator>& taken);

  std::vector<Place> resolve(const Automatic&);
  std::vector<Place> resolve(const Allocation&);
  std::vector<Place> resolve(const IdleGpu&) { return {}; }  // after all others
  std::vector<Place> resolve(const Gpu& gpu);
  std::vector<Place> resolve(const WholeCpu&) { return {{"cpu", "cpu"}}; }
  std::vector<Place> resolve(const AllOf& all);
  std::vector<Place> resolve(const Device& device);
  std::vector<Place> resolve(const Group& group);
  Place gpu_at(const Discovery& discovery, const std::string& kind, int index, int trials);
  std::vector<Place> idlest_gpus(const std::vector<Place>& taken, std::size_t count);
  std::vector<Place> cpus(int count) const;
  /// Of a kind whose devices evolve cannot discover.
  Place foreign(const Device& device) const;
  /// What a mask that we have ourselves shows of a kind; nothing: there is none.
  std::optional<std::vector<std::string>> shown(const std::string& kind,
                                                const std::string& variable) const;
  /// That our own variable does not show it.
  std::invalid_argument hidden(const std::string& name, const std::string& variable) const;
  /// The variable that hides devices of such a kind.
  std::string variable_of(const std::string& kind) const;

  const Machine& machine_;
  const TrainerTraits& trainer_;
  bool one_;
  const std::vector<core::Slot>& had_;
  /// The specification has a device of a kind that evolve does not know.
  bool names_unknown_kind_ = false;
  std::map<std::string, Discovery> found_;
};

}  // namespace evolve::devices

// Resolves the requests of a specification to devices of the machine.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "devices/driverless.hpp"
#include "devices/machine.hpp"
#include "devices/place.hpp"
#include "devices/slots.hpp"
#include "devices/spec.hpp"

namespace evolve::devices {

class Chooser {
 public:
  /// `one`: `auto` means one device. `had`: see choose(). All but `one` must outlive the chooser.
  Chooser(const Machine& machine, const TrainerTraits& trainer, bool one, const Had& had);

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
  /// Whether the numbers in the slot's environment still mean its own devices: not so where the
  /// driver has numbered them anew. True where the driver cannot be asked or they are gone. Throws
  /// that they are not there where the numbers mean another device now.
  bool shows_its_devices(const core::Slot& slot);
  /// The place of the run's slot of such a name; nothing when it has none, one of which neither a
  /// driver nor a job tells the devices, or one that would show others now.
  std::optional<Place> had_place(const std::string& name, int trials);
  /// Throws when the trainer cannot use devices of this kind.
  void require_driven(const std::string& kind) const;
  /// NVIDIA's driver, or Intel's when that has no device. Throws that there is no `name` when
  /// neither has, and where one fails.
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

  const Machine& machine_;
  const TrainerTraits& trainer_;
  bool one_;
  const Had& had_;
  Driverless driverless_{machine_, trainer_};
  std::map<std::string, Discovery> found_;
};

}  // namespace evolve::devices

// A GPU, or a part of one that works like one (a tile, a MIG instance), as its driver describes it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace evolve::devices {

struct Accelerator {
  /// "cuda" or "xpu"; "cpu" of the host (machine.hpp).
  std::string kind;
  /// From 0, among those of its kind that this process may use.
  int index = 0;
  /// Its number on this machine, whatever is hidden: what nvidia-smi shows, or what
  /// ZE_AFFINITY_MASK counts. Empty when it has none of its own, as a MIG instance.
  std::string number;
  std::string name;
  /// "GPU-…", "MIG-…" (NVIDIA), 8-4-4-4-12 hexadecimal digits (Intel); empty when unknown.
  std::string uuid;
  /// "0000:03:00.0"; empty when unknown.
  std::string pci;
  /// Shares the host's memory.
  bool integrated = false;
  /// "ok", or why nothing can run on it: "lost", "in MIG mode, without an instance".
  std::string state = "ok";

  // What the driver tells of its present condition. A hint: Intel's driver shows a user other than
  // root all memory as free, for instance.
  std::optional<std::int64_t> memory_total_bytes, memory_free_bytes;
  /// 0 to 100.
  std::optional<double> load_percent;
  std::optional<double> temperature_celsius, power_watts;

  /// The variables that show a process this device alone, as number 0 of its kind.
  std::vector<std::pair<std::string, std::string>> mask;

  bool ok() const { return state == "ok"; }
  bool operator==(const Accelerator&) const = default;
};

/// "xpu:1"
std::string name_of(const Accelerator& accelerator);

/// "0000:03:00.0"
std::string pci_text(unsigned domain, unsigned bus, unsigned device, unsigned function);

/// "Intel(R) Arc(TM) A770 Graphics, 15.9 GiB, 0000:03:00.0, 868080a0-…": what is known of it.
std::string description(const Accelerator& accelerator);

/// A group's devices as one, by what limits it: memory and load are those of the device with the
/// least free memory and of the busiest, the temperature is that of the hottest, power is the sum.
/// In order when all are. At least one device.
Accelerator together(const std::vector<Accelerator>& devices);

/// {"device":"xpu:1","name":…,"uuid":…,"pci":…,"memory_total_bytes":…,"memory_free_bytes":…,"state":…}
/// and the rest; what is unknown is null. `mask` is an object: {"ZE_AFFINITY_MASK":"1",…}.
nlohmann::ordered_json to_json(const Accelerator& accelerator);
Accelerator accelerator_from_json(const nlohmann::ordered_json& json);

}  // namespace evolve::devices

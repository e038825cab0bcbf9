// A libnvidia-ml.so.1 of cards that are not there.
//
// FAKE_GPUS describes them: "name=RTX 4090,uuid=GPU-1,bus=3;name=A100,uuid=GPU-2,bus=4,mig=2" with
// any of memory, free (GiB), secret (no word of memory), held (a folder, see fake::held), load (%),
// celsius, watts, mig (in MIG mode, with so many instances: 0 too), lost, odd (fails, with a code
// that has no words), foreign (another job's). FAKE_NVML makes it start badly: unloaded (no kernel
// module), broken, crash, exit, hang, stuck, print.

#include <deque>

#include "tests/fake_drivers/cards.hpp"

namespace {

struct Unit {
  fake::Card card;
  std::string uuid;
  std::deque<Unit> instances;
};
std::deque<Unit> units;

struct Memory {
  unsigned long long total, free, used;
};
struct Utilization {
  unsigned gpu, memory;
};
struct PciInfo {
  char bus_id_legacy[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
};

constexpr int success = 0, unknown_error = 999, not_supported = 3, no_permission = 4, not_found = 6,
              driver_not_loaded = 9, gpu_is_lost = 15, odd_error = 77;

int told(const Unit* unit, const char* key, unsigned* value, unsigned factor = 1) {
  if (!unit->card.contains(key)) return not_supported;
  *value = static_cast<unsigned>(fake::number(unit->card, key)) * factor;
  return success;
}

}  // namespace

extern "C" {

int nvmlInit_v2() {
  const auto how = fake::variable("FAKE_NVML");
  fake::misbehave(how);
  if (how == "unloaded") return driver_not_loaded;
  if (how == "broken") return unknown_error;
  for (const auto& card : fake::cards("FAKE_GPUS")) {
    Unit unit{card, card.contains("uuid") ? card.at("uuid") : "", {}};
    for (int i = 0; i < fake::number(card, "mig"); ++i)
      unit.instances.push_back({card, "MIG-" + unit.uuid.substr(4) + "-" + std::to_string(i), {}});
    units.push_back(unit);
  }
  return success;
}

const char* nvmlErrorString(int code) {
  if (code == odd_error) return nullptr;
  return code == unknown_error ? "Unknown Error" : "an error";
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(units.size());
  return success;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, Unit** unit) {
  *unit = &units.at(index);
  if ((*unit)->card.contains("lost")) return gpu_is_lost;
  if ((*unit)->card.contains("odd")) return odd_error;
  return (*unit)->card.contains("foreign") ? no_permission : success;
}

int nvmlDeviceGetName(Unit* unit, char* text, unsigned size) {
  std::snprintf(text, size, "%s", unit->card.at("name").c_str());
  return success;
}

int nvmlDeviceGetUUID(Unit* unit, char* text, unsigned size) {
  std::snprintf(text, size, "%s", unit->uuid.c_str());
  return success;
}

int nvmlDeviceGetPciInfo_v3(Unit* unit, PciInfo* pci) {
  *pci = {};
  pci->bus = static_cast<unsigned>(fake::number(unit->card, "bus"));
  return success;
}

int nvmlDeviceGetMemoryInfo(Unit* unit, Memory* memory) {
  if (unit->card.contains("secret")) return no_permission;
  memory->total = static_cast<unsigned long long>(fake::number(unit->card, "memory", 24)) << 30;
  const int free = fake::number(unit->card, "free", 24) - fake::held(unit->card);
  memory->free = static_cast<unsigned long long>(free) << 30;
  return success;
}

int nvmlDeviceGetUtilizationRates(Unit* unit, Utilization* load) {
  return told(unit, "load", &load->gpu);
}

int nvmlDeviceGetTemperature(Unit* unit, unsigned, unsigned* celsius) {
  return told(unit, "celsius", celsius);
}

int nvmlDeviceGetPowerUsage(Unit* unit, unsigned* milliwatts) {
  return told(unit, "watts", milliwatts, 1000);
}

int nvmlDeviceGetMigMode(Unit* unit, unsigned* current, unsigned* pending) {
  *current = *pending = unit->card.contains("mig") ? 1 : 0;
  return success;
}

int nvmlDeviceGetMaxMigDeviceCount(Unit*, unsigned* count) {
  *count = 7;
  return success;
}

int nvmlDeviceGetMigDeviceHandleByIndex(Unit* unit, unsigned index, Unit** instance) {
  if (index >= unit->instances.size()) return not_found;
  *instance = &unit->instances[index];
  return success;
}
}

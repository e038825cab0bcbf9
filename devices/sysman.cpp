#include "devices/sysman.hpp"

#include <level_zero/zes_api.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <thread>

namespace evolve::devices {
namespace {

/// Load and power are differences over this time.
constexpr std::chrono::milliseconds interval{120};

// Of loaders from 1.9: Debian 12's headers do not know them.
using Init = ze_result_t(std::uint32_t);
using Drivers = ze_result_t(std::uint32_t*, zes_driver_handle_t*);
using Devices = ze_result_t(zes_driver_handle_t, std::uint32_t*, zes_device_handle_t*);

struct Sysman {
  const Library& z;
  decltype(zesDevicePciGetProperties)* pci =
      z.get<decltype(zesDevicePciGetProperties)>("zesDevicePciGetProperties");
  decltype(zesDeviceGetState)* state = z.get<decltype(zesDeviceGetState)>("zesDeviceGetState");
  decltype(zesDeviceEnumMemoryModules)* memories =
      z.get<decltype(zesDeviceEnumMemoryModules)>("zesDeviceEnumMemoryModules");
  decltype(zesMemoryGetState)* memory = z.get<decltype(zesMemoryGetState)>("zesMemoryGetState");
  decltype(zesDeviceEnumEngineGroups)* engines =
      z.get<decltype(zesDeviceEnumEngineGroups)>("zesDeviceEnumEngineGroups");
  decltype(zesEngineGetActivity)* activity =
      z.get<decltype(zesEngineGetActivity)>("zesEngineGetActivity");
  decltype(zesDeviceEnumTemperatureSensors)* thermometers =
      z.get<decltype(zesDeviceEnumTemperatureSensors)>("zesDeviceEnumTemperatureSensors");
  decltype(zesTemperatureGetState)* temperature =
      z.get<decltype(zesTemperatureGetState)>("zesTemperatureGetState");
  decltype(zesDeviceEnumPowerDomains)* power_domains =
      z.get<decltype(zesDeviceEnumPowerDomains)>("zesDeviceEnumPowerDomains");
  decltype(zesPowerGetEnergyCounter)* energy =
      z.get<decltype(zesPowerGetEnergyCounter)>("zesPowerGetEnergyCounter");
};

/// Sysman's handles by PCI address, where it has handles of its own.
std::map<std::string, zes_device_handle_t> own_handles(const Sysman& s) {
  auto* init = s.z.find<Init>("zesInit");
  if (!init || init(0) != ZE_RESULT_SUCCESS) return {};
  auto* drivers = s.z.get<Drivers>("zesDriverGet");
  auto* devices = s.z.get<Devices>("zesDeviceGet");
  std::map<std::string, zes_device_handle_t> handles;
  for (const auto driver : listed<zes_driver_handle_t>(drivers)) {
    for (const auto device : listed<zes_device_handle_t>(
             [&](auto*count, auto*list) { return devices(driver, count, list); })) {
      zes_pci_properties_t pci{};
      pci.stype = ZES_STRUCTURE_TYPE_PCI_PROPERTIES;
      if (s.pci(device, &pci) == ZE_RESULT_SUCCESS) handles[pci_text(pci.address)] = device;
    }
  }
  return handles;
}

/// The sensors of one device.
struct Panel {
  zes_device_handle_t handle;
  Accelerator* xpu;
  std::vector<zes_engine_handle_t> engines;
  std::vector<zes_engine_stats_t> activity;
  std::optional<zes_pwr_handle_t> meter;
  zes_power_energy_counter_t energy{};
};

template <class Handle, class Enumerate>
std::vector<Handle> parts(zes_device_handle_t device, Enumerate enumerate) {
  return listed<Handle>(
      [&](auto* count, auto* handles) { return enumerate(device, count, handles); });
}

/// Sums the memory modules.
void read_memory(const Sysman& s, Panel& panel) {
  std::int64_t size = 0, free = 0;
  for (const auto module : parts<zes_mem_handle_t>(panel.handle, s.memories)) {
    zes_mem_state_t state{};
    state.stype = ZES_STRUCTURE_TYPE_MEM_STATE;
    const auto result = s.memory(module, &state);
    if (result == ZE_RESULT_ERROR_DEVICE_LOST) panel.xpu->state = "lost";
    if (result != ZE_RESULT_SUCCESS) continue;
    size += static_cast<std::int64_t>(state.size);
    free += static_cast<std::int64_t>(state.free);
  }
  if (size <= 0) return;
  // A tile that is a device by itself shares its card's modules.
  const auto total = panel.xpu->memory_total_bytes.value_or(size);
  if (size <= total + total / 8) panel.xpu->memory_free_bytes = std::min(free, total);
  panel.xpu->memory_total_bytes = total;
}

void read_state(const Sysman& s, Panel& panel) {
  zes_device_state_t state{};
  state.stype = ZES_STRUCTURE_TYPE_DEVICE_STATE;
  const auto result = s.state(panel.handle, &state);
  if (result == ZE_RESULT_ERROR_DEVICE_LOST) panel.xpu->state = "lost";
  if (result == ZE_RESULT_SUCCESS && state.reset & ZES_RESET_REASON_FLAG_WEDGED)
    panel.xpu->state = "wedged";
  else if (result == ZE_RESULT_SUCCESS && state.reset & ZES_RESET_REASON_FLAG_REPAIR)
    panel.xpu->state = "needs a reset";
}

// Who may not read a counter or a sensor reads 0 (compute-runtime#771): that says nothing, least of
// all that a card is idle.

/// The hottest of the sensors.
void read_temperature(const Sysman& s, Panel& panel) {
  for (const auto sensor : parts<zes_temp_handle_t>(panel.handle, s.thermometers)) {
    double celsius = 0;
    if (s.temperature(sensor, &celsius) == ZE_RESULT_SUCCESS && celsius > 0)
      panel.xpu->temperature_celsius =
          std::max(panel.xpu->temperature_celsius.value_or(celsius), celsius);
  }
}

void begin_measuring(const Sysman& s, Panel& panel) {
  for (const auto engine : parts<zes_engine_handle_t>(panel.handle, s.engines)) {
    zes_engine_stats_t stats{};
    if (s.activity(engine, &stats) != ZE_RESULT_SUCCESS) continue;
    panel.engines.push_back(engine);
    panel.activity.push_back(stats);
  }
  for (const auto domain : parts<zes_pwr_handle_t>(panel.handle, s.power_domains)) {
    if (s.energy(domain, &panel.energy) != ZE_RESULT_SUCCESS) continue;
    panel.meter = domain;  // the first is the card's
    break;
  }
}

/// The load is that of the busiest engine.
void end_measuring(const Sysman& s, Panel& panel) {
  for (std::size_t i = 0; i < panel.engines.size(); ++i) {
    const auto& before = panel.activity[i];
    zes_engine_stats_t now{};
    if (s.activity(panel.engines[i], &now) != ZE_RESULT_SUCCESS || now.activeTime == 0 ||
        now.timestamp <= before.timestamp)
      continue;
    const double load = 100.0 * static_cast<double>(now.activeTime - before.activeTime) /
                        static_cast<double>(now.timestamp - before.timestamp);
    panel.xpu->load_percent =
        std::clamp(std::max(panel.xpu->load_percent.value_or(0), load), 0.0, 100.0);
  }
  zes_power_energy_counter_t now{};
  if (panel.meter && s.energy(*panel.meter, &now) == ZE_RESULT_SUCCESS && now.energy > 0 &&
      now.timestamp > panel.energy.timestamp)
    panel.xpu->power_watts = static_cast<double>(now.energy - panel.energy.energy) /
                             static_cast<double>(now.timestamp - panel.energy.timestamp);
}

}  // namespace

void prepare_sysman(const Library& loader) {
  if (loader.find<Init>("zesInit"))
    ::unsetenv("ZES_ENABLE_SYSMAN");
  else
    ::setenv("ZES_ENABLE_SYSMAN", "1", 1);
}

void read_sysman(const Library& loader,
                 const std::vector<std::pair<ze_device_handle_t, Accelerator*>>& devices) {
  const Sysman s{loader};
  const bool has_own_handles = loader.find<Init>("zesInit");
  const auto handles = own_handles(s);
  std::vector<Panel> panels;
  for (const auto& [handle, xpu] : devices) {
    if (!xpu->ok()) continue;
    const auto own = handles.find(xpu->pci);
    if (own != handles.end())
      panels.push_back({own->second, xpu});
    else if (!has_own_handles)
      panels.push_back({handle, xpu});
  }
  for (auto& panel : panels) {
    read_state(s, panel);
    read_memory(s, panel);
    read_temperature(s, panel);
    begin_measuring(s, panel);
  }
  std::this_thread::sleep_for(interval);
  for (auto& panel : panels) end_measuring(s, panel);
}

}  // namespace evolve::devices

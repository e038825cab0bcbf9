// A driver for the real Level Zero loader (ZE_ENABLE_ALT_DRIVERS), of cards that are not there.
//
// FAKE_XPUS describes them: "name=Arc A770,bus=3,memory=16,free=10;name=Max 1550,bus=8,tiles=2"
// with any of memory, free (GiB), load (%; of an engine that has worked before), celsius, watts,
// tiles, integrated, lost, wedged, npu, silent (counters read 0, as who may not read them sees).
// FAKE_XPU_INIT makes it start badly: none (it has no device), crash, exit, hang, stuck, print;
// "unlisted": it cannot list its devices; "sensors crash" crashes when it is asked for memory.
// FAKE_XPU_HIERARCHY is what it does by default: COMPOSITE, or FLAT. It obeys ZE_AFFINITY_MASK and
// ZE_FLAT_DEVICE_HIERARCHY as Intel's does; FAKE_XPU_BLIND makes it ignore the mask.

#include <level_zero/ze_api.h>
#include <level_zero/ze_ddi.h>
#include <level_zero/zes_api.h>
#include <level_zero/zes_ddi.h>
#include <level_zero/zet_ddi.h>

#include <cstring>
#include <deque>

#include "tests/fake_drivers/cards.hpp"

namespace {

/// A card, or a tile of one. Its address is its handle, and that of each of its sensors.
struct Unit {
  fake::Card card;
  /// From 0; -1 for a whole card.
  int tile = -1;
  std::vector<Unit*> tiles;
  std::uint64_t clock = 0;
};

struct Driver {
  std::deque<Unit> units;
  /// What it lists.
  std::vector<Unit*> devices;
  /// What Sysman lists.
  std::vector<Unit*> cards;
  /// Loaders from 1.20 describe drivers and their devices themselves, in zeInit, which fails where
  /// one is lost already: a card is lost once that is over, and drivers are listed to the program.
  bool described_to_loader = false;
};
Driver driver;

int tiles_of(const fake::Card& card) {
  return fake::number(card, "tiles", 1);
}

Unit* unit(const fake::Card& card, int tile = -1) {
  driver.units.push_back({card, tile, {}, 0});
  return &driver.units.back();
}

void list_flat(const std::vector<fake::Card>& cards) {
  for (const auto& card : cards) {
    if (tiles_of(card) == 1) driver.devices.push_back(unit(card));
    for (int tile = 0; tiles_of(card) > 1 && tile < tiles_of(card); ++tile)
      driver.devices.push_back(unit(card, tile));
  }
}

void list_composite(const std::vector<fake::Card>& cards) {
  for (const auto& card : cards) {
    auto* whole = unit(card);
    for (int tile = 0; tiles_of(card) > 1 && tile < tiles_of(card); ++tile)
      whole->tiles.push_back(unit(card, tile));
    driver.devices.push_back(whole);
  }
}

/// It hides, and cannot reorder; what is out of range is skipped.
void apply_mask(bool flat) {
  const auto mask = fake::variable("ZE_AFFINITY_MASK");
  if (mask.empty() || !fake::variable("FAKE_XPU_BLIND").empty()) return;
  std::vector<Unit*> visible;
  for (std::size_t i = 0; i < driver.devices.size(); ++i) {
    auto* device = driver.devices[i];
    for (const auto& entry : fake::split(mask, ',')) {
      const auto parts = fake::split(entry, '.');
      if (parts.empty() || parts[0] != std::to_string(i)) continue;
      if (parts.size() == 1 || flat)
        visible.push_back(device);
      else if (std::stoul(parts[1]) < device->tiles.size())
        visible.push_back(device->tiles[std::stoul(parts[1])]);
      break;
    }
  }
  driver.devices = visible;
}

ze_result_t init(ze_init_flags_t) {
  const auto how = fake::variable("FAKE_XPU_INIT");
  if (how == "none") return ZE_RESULT_ERROR_UNINITIALIZED;
  fake::misbehave(how);
  if (!driver.units.empty()) return ZE_RESULT_SUCCESS;  // the loader has asked before
  auto hierarchy = fake::variable("ZE_FLAT_DEVICE_HIERARCHY");
  if (hierarchy.empty()) hierarchy = fake::variable("FAKE_XPU_HIERARCHY");
  const bool flat = hierarchy == "FLAT" || hierarchy == "COMBINED";
  const auto cards = fake::cards("FAKE_XPUS");
  flat ? list_flat(cards) : list_composite(cards);
  for (const auto& card : cards) driver.cards.push_back(unit(card));
  apply_mask(flat);
  return ZE_RESULT_SUCCESS;
}

Unit& at(void* handle) {
  return *static_cast<Unit*>(handle);
}

bool is_lost(void* handle) {
  return at(handle).card.contains("lost");
}

template <class Handle>
ze_result_t list(const std::vector<Unit*>& units, std::uint32_t* count, Handle* handles) {
  if (!handles) {
    *count = static_cast<std::uint32_t>(units.size());
    return ZE_RESULT_SUCCESS;
  }
  for (std::uint32_t i = 0; i < *count; ++i) handles[i] = reinterpret_cast<Handle>(units.at(i));
  return ZE_RESULT_SUCCESS;
}

ze_result_t get_driver(std::uint32_t* count, ze_driver_handle_t* handles) {
  driver.described_to_loader = false;
  *count = 1;
  if (handles) *handles = reinterpret_cast<ze_driver_handle_t>(&driver);
  return ZE_RESULT_SUCCESS;
}

ze_result_t driver_properties(ze_driver_handle_t, ze_driver_properties_t* properties) {
  driver.described_to_loader = true;
  properties->driverVersion = 1;
  return ZE_RESULT_SUCCESS;
}

ze_result_t get_devices(ze_driver_handle_t, std::uint32_t* count, ze_device_handle_t* handles) {
  if (fake::variable("FAKE_XPU_INIT") == "unlisted") return ZE_RESULT_ERROR_DEVICE_LOST;
  return list(driver.devices, count, handles);
}

ze_result_t get_tiles(ze_device_handle_t device, std::uint32_t* count,
                      ze_device_handle_t* handles) {
  return list(at(device).tiles, count, handles);
}

ze_result_t properties(ze_device_handle_t device, ze_device_properties_t* properties) {
  if (is_lost(device) && !driver.described_to_loader) return ZE_RESULT_ERROR_DEVICE_LOST;
  const auto& unit = at(device);
  properties->type = unit.card.contains("npu") ? ZE_DEVICE_TYPE_VPU : ZE_DEVICE_TYPE_GPU;
  properties->flags = unit.card.contains("integrated") ? +ZE_DEVICE_PROPERTY_FLAG_INTEGRATED : 0u;
  std::memset(properties->uuid.id, 0, sizeof properties->uuid.id);
  properties->uuid.id[0] = 0x86;
  properties->uuid.id[1] = 0x80;
  properties->uuid.id[4] = static_cast<std::uint8_t>(fake::number(unit.card, "bus"));
  properties->uuid.id[15] = static_cast<std::uint8_t>(unit.tile + 1);
  const auto name = unit.card.find("name");
  std::snprintf(properties->name, sizeof properties->name, "%s",
                name == unit.card.end() ? "Fake GPU" : name->second.c_str());
  return ZE_RESULT_SUCCESS;
}

ze_result_t pci(ze_device_handle_t device, ze_pci_ext_properties_t* pci) {
  pci->address = {0, static_cast<std::uint32_t>(fake::number(at(device).card, "bus")), 0, 0};
  return ZE_RESULT_SUCCESS;
}

/// A card without tiles has this one list of any kind of sensor: itself.
template <class Handle>
ze_result_t itself(zes_device_handle_t device, std::uint32_t* count, Handle* handles) {
  return list<Handle>({&at(device)}, count, handles);
}

ze_result_t state(zes_device_handle_t device, zes_device_state_t* state) {
  state->reset = at(device).card.contains("wedged") ? +ZES_RESET_REASON_FLAG_WEDGED : 0u;
  return ZE_RESULT_SUCCESS;
}

ze_result_t memory_state(zes_mem_handle_t memory, zes_mem_state_t* state) {
  if (fake::variable("FAKE_XPU_INIT") == "sensors crash") std::abort();
  const auto& card = at(memory).card;
  state->size = static_cast<std::uint64_t>(fake::number(card, "memory", 16)) << 30;
  state->free = static_cast<std::uint64_t>(fake::number(card, "free", 16)) << 30;
  return ZE_RESULT_SUCCESS;
}

/// Each look at a counter is 0.1 s after the one before.
constexpr std::uint64_t step_microseconds = 100000;
/// What counters have from before.
constexpr std::uint64_t before = 1000000;

/// The counter of an engine of that load, or of a meter of that power.
template <class Handle>
ze_result_t count(Handle sensor, const char* rate, std::uint64_t per_microsecond,
                  std::uint64_t& counter, std::uint64_t& timestamp) {
  auto& unit = at(sensor);
  if (!unit.card.contains(rate)) return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
  unit.clock += step_microseconds;
  timestamp = unit.clock;
  const auto each = static_cast<std::uint64_t>(fake::number(unit.card, rate));
  counter = unit.card.contains("silent") ? 0 : before + unit.clock / per_microsecond * each;
  return ZE_RESULT_SUCCESS;
}

ze_result_t activity(zes_engine_handle_t engine, zes_engine_stats_t* stats) {
  return count(engine, "load", 100, stats->activeTime, stats->timestamp);
}

ze_result_t energy(zes_pwr_handle_t meter, zes_power_energy_counter_t* energy) {
  return count(meter, "watts", 1, energy->energy, energy->timestamp);
}

ze_result_t temperature(zes_temp_handle_t sensor, double* celsius) {
  const auto& card = at(sensor).card;
  if (!card.contains("celsius")) return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
  *celsius = fake::number(card, "celsius");
  return ZE_RESULT_SUCCESS;
}

#ifdef ZE_API_VERSION_CURRENT_M  // the headers of loaders that know zesInit
/// Sysman lists cards, masked or not.
ze_result_t get_sysman_devices(zes_driver_handle_t, std::uint32_t* count,
                               zes_device_handle_t* handles) {
  return list(driver.cards, count, handles);
}

ze_result_t sysman_pci(zes_device_handle_t device, zes_pci_properties_t* pci) {
  pci->address = {0, static_cast<std::uint32_t>(fake::number(at(device).card, "bus")), 0, 0};
  return ZE_RESULT_SUCCESS;
}
#endif

/// Level Zero's loader asks for each table of functions by name, and takes what is there.
template <class Table>
ze_result_t cleared(Table* table) {
  std::memset(table, 0, sizeof *table);
  return ZE_RESULT_SUCCESS;
}

}  // namespace

#define EMPTY_TABLE(name, type)                                \
  extern "C" ze_result_t name(ze_api_version_t, type* table) { \
    return cleared(table);                                     \
  }
EMPTY_TABLE(zeGetDeviceExpProcAddrTable, ze_device_exp_dditable_t)
EMPTY_TABLE(zeGetContextProcAddrTable, ze_context_dditable_t)
EMPTY_TABLE(zeGetCommandQueueProcAddrTable, ze_command_queue_dditable_t)
EMPTY_TABLE(zeGetCommandListProcAddrTable, ze_command_list_dditable_t)
EMPTY_TABLE(zeGetImageProcAddrTable, ze_image_dditable_t)
EMPTY_TABLE(zeGetImageExpProcAddrTable, ze_image_exp_dditable_t)
EMPTY_TABLE(zeGetFenceProcAddrTable, ze_fence_dditable_t)
EMPTY_TABLE(zeGetEventPoolProcAddrTable, ze_event_pool_dditable_t)
EMPTY_TABLE(zeGetEventProcAddrTable, ze_event_dditable_t)
EMPTY_TABLE(zeGetEventExpProcAddrTable, ze_event_exp_dditable_t)
EMPTY_TABLE(zeGetModuleProcAddrTable, ze_module_dditable_t)
EMPTY_TABLE(zeGetModuleBuildLogProcAddrTable, ze_module_build_log_dditable_t)
EMPTY_TABLE(zeGetKernelProcAddrTable, ze_kernel_dditable_t)
EMPTY_TABLE(zeGetKernelExpProcAddrTable, ze_kernel_exp_dditable_t)
EMPTY_TABLE(zeGetSamplerProcAddrTable, ze_sampler_dditable_t)
EMPTY_TABLE(zeGetPhysicalMemProcAddrTable, ze_physical_mem_dditable_t)
EMPTY_TABLE(zeGetMemProcAddrTable, ze_mem_dditable_t)
EMPTY_TABLE(zeGetVirtualMemProcAddrTable, ze_virtual_mem_dditable_t)
EMPTY_TABLE(zeGetFabricVertexExpProcAddrTable, ze_fabric_vertex_exp_dditable_t)
EMPTY_TABLE(zeGetFabricEdgeExpProcAddrTable, ze_fabric_edge_exp_dditable_t)
EMPTY_TABLE(zesGetSchedulerProcAddrTable, zes_scheduler_dditable_t)
EMPTY_TABLE(zesGetPerformanceFactorProcAddrTable, zes_performance_factor_dditable_t)
EMPTY_TABLE(zesGetFrequencyProcAddrTable, zes_frequency_dditable_t)
EMPTY_TABLE(zesGetStandbyProcAddrTable, zes_standby_dditable_t)
EMPTY_TABLE(zesGetFirmwareProcAddrTable, zes_firmware_dditable_t)
EMPTY_TABLE(zesGetFabricPortProcAddrTable, zes_fabric_port_dditable_t)
EMPTY_TABLE(zesGetPsuProcAddrTable, zes_psu_dditable_t)
EMPTY_TABLE(zesGetFanProcAddrTable, zes_fan_dditable_t)
EMPTY_TABLE(zesGetLedProcAddrTable, zes_led_dditable_t)
EMPTY_TABLE(zesGetRasProcAddrTable, zes_ras_dditable_t)
EMPTY_TABLE(zesGetDiagnosticsProcAddrTable, zes_diagnostics_dditable_t)
EMPTY_TABLE(zetGetDeviceProcAddrTable, zet_device_dditable_t)
EMPTY_TABLE(zetGetContextProcAddrTable, zet_context_dditable_t)
EMPTY_TABLE(zetGetCommandListProcAddrTable, zet_command_list_dditable_t)
EMPTY_TABLE(zetGetModuleProcAddrTable, zet_module_dditable_t)
EMPTY_TABLE(zetGetKernelProcAddrTable, zet_kernel_dditable_t)
EMPTY_TABLE(zetGetMetricGroupProcAddrTable, zet_metric_group_dditable_t)
EMPTY_TABLE(zetGetMetricGroupExpProcAddrTable, zet_metric_group_exp_dditable_t)
EMPTY_TABLE(zetGetMetricProcAddrTable, zet_metric_dditable_t)
EMPTY_TABLE(zetGetMetricStreamerProcAddrTable, zet_metric_streamer_dditable_t)
EMPTY_TABLE(zetGetMetricQueryPoolProcAddrTable, zet_metric_query_pool_dditable_t)
EMPTY_TABLE(zetGetMetricQueryProcAddrTable, zet_metric_query_dditable_t)
EMPTY_TABLE(zetGetTracerExpProcAddrTable, zet_tracer_exp_dditable_t)
EMPTY_TABLE(zetGetDebugProcAddrTable, zet_debug_dditable_t)

extern "C" ze_result_t zeGetGlobalProcAddrTable(ze_api_version_t, ze_global_dditable_t* table) {
  cleared(table);
  table->pfnInit = init;
  return ZE_RESULT_SUCCESS;
}
extern "C" ze_result_t zeGetDriverProcAddrTable(ze_api_version_t, ze_driver_dditable_t* table) {
  cleared(table);
  table->pfnGet = get_driver;
  table->pfnGetProperties = driver_properties;
  return ZE_RESULT_SUCCESS;
}
extern "C" ze_result_t zeGetDeviceProcAddrTable(ze_api_version_t, ze_device_dditable_t* table) {
  cleared(table);
  table->pfnGet = get_devices;
  table->pfnGetSubDevices = get_tiles;
  table->pfnGetProperties = properties;
  table->pfnPciGetPropertiesExt = pci;
  return ZE_RESULT_SUCCESS;
}
#ifdef ZE_API_VERSION_CURRENT_M
extern "C" ze_result_t zesGetGlobalProcAddrTable(ze_api_version_t, zes_global_dditable_t* table) {
  cleared(table);
  table->pfnInit = init;
  return ZE_RESULT_SUCCESS;
}
extern "C" ze_result_t zesGetDriverProcAddrTable(ze_api_version_t, zes_driver_dditable_t* table) {
  cleared(table);
  table->pfnGet = get_driver;
  return ZE_RESULT_SUCCESS;
}
#else
EMPTY_TABLE(zesGetDriverProcAddrTable, zes_driver_dditable_t)
#endif
extern "C" ze_result_t zesGetDeviceProcAddrTable(ze_api_version_t, zes_device_dditable_t* table) {
  cleared(table);
#ifdef ZE_API_VERSION_CURRENT_M
  table->pfnGet = get_sysman_devices;
  table->pfnPciGetProperties = sysman_pci;
#endif
  table->pfnGetState = state;
  table->pfnEnumMemoryModules = itself<zes_mem_handle_t>;
  table->pfnEnumEngineGroups = itself<zes_engine_handle_t>;
  table->pfnEnumTemperatureSensors = itself<zes_temp_handle_t>;
  table->pfnEnumPowerDomains = itself<zes_pwr_handle_t>;
  return ZE_RESULT_SUCCESS;
}
extern "C" ze_result_t zesGetMemoryProcAddrTable(ze_api_version_t, zes_memory_dditable_t* table) {
  cleared(table);
  table->pfnGetState = memory_state;
  return ZE_RESULT_SUCCESS;
}
extern "C" ze_result_t zesGetEngineProcAddrTable(ze_api_version_t, zes_engine_dditable_t* table) {
  cleared(table);
  table->pfnGetActivity = activity;
  return ZE_RESULT_SUCCESS;
}
extern "C" ze_result_t zesGetTemperatureProcAddrTable(ze_api_version_t,
                                                      zes_temperature_dditable_t* table) {
  cleared(table);
  table->pfnGetState = temperature;
  return ZE_RESULT_SUCCESS;
}
extern "C" ze_result_t zesGetPowerProcAddrTable(ze_api_version_t, zes_power_dditable_t* table) {
  cleared(table);
  table->pfnGetEnergyCounter = energy;
  return ZE_RESULT_SUCCESS;
}

#include "devices/level_zero.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "devices/library.hpp"
#include "devices/sysman.hpp"

namespace evolve::devices {
namespace {

struct LevelZero {
  Library library{"libze_loader.so.1"};
  decltype(zeInit)* init = library.get<decltype(zeInit)>("zeInit");
  decltype(zeDriverGet)* drivers = library.get<decltype(zeDriverGet)>("zeDriverGet");
  decltype(zeDeviceGet)* devices = library.get<decltype(zeDeviceGet)>("zeDeviceGet");
  decltype(zeDeviceGetSubDevices)* tiles =
      library.get<decltype(zeDeviceGetSubDevices)>("zeDeviceGetSubDevices");
  decltype(zeDeviceGetProperties)* properties =
      library.get<decltype(zeDeviceGetProperties)>("zeDeviceGetProperties");
  decltype(zeDeviceGetMemoryProperties)* memory =
      library.get<decltype(zeDeviceGetMemoryProperties)>("zeDeviceGetMemoryProperties");
  decltype(zeDevicePciGetPropertiesExt)* pci =
      library.find<decltype(zeDevicePciGetPropertiesExt)>("zeDevicePciGetPropertiesExt");
};

struct Described {
  ze_device_handle_t handle;
  LevelZeroDevice device;
};

std::string hexadecimal(ze_result_t result) {
  return fmt::format("0x{:x}", static_cast<unsigned>(result));
}

/// The bytes in their order, as torch and the canonical form of a UUID have them.
std::string uuid_text(const ze_device_uuid_t& uuid) {
  std::string text;
  for (int i = 0; i < ZE_MAX_DEVICE_UUID_SIZE; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", uuid.id[i]);
  }
  return text;
}

/// The memory that the device was built with, as far as the driver tells.
std::optional<std::int64_t> total_memory(const LevelZero& ze, ze_device_handle_t device) {
  std::uint32_t count = 0;
  if (ze.memory(device, &count, nullptr) != ZE_RESULT_SUCCESS || count == 0) return {};
  std::vector<ze_device_memory_properties_t> kinds(count);
  for (auto& kind : kinds) kind.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES;
  if (ze.memory(device, &count, kinds.data()) != ZE_RESULT_SUCCESS) return {};
  std::int64_t total = 0;
  for (const auto& kind : kinds) total += static_cast<std::int64_t>(kind.totalSize);
  return total > 0 ? std::optional(total) : std::nullopt;
}

/// Nothing for what is not a GPU: an NPU has a driver of this kind too.
std::optional<Accelerator> describe(const LevelZero& ze, ze_device_handle_t device) {
  Accelerator xpu{.kind = "xpu", .name = "Intel GPU"};
  ze_device_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
  if (const auto result = ze.properties(device, &properties); result != ZE_RESULT_SUCCESS) {
    xpu.state = result == ZE_RESULT_ERROR_DEVICE_LOST ? "lost" : "error " + hexadecimal(result);
    return xpu;
  }
  if (properties.type != ZE_DEVICE_TYPE_GPU) return {};
  xpu.name = properties.name;
  xpu.uuid = uuid_text(properties.uuid);
  xpu.integrated = properties.flags & ZE_DEVICE_PROPERTY_FLAG_INTEGRATED;
  ze_pci_ext_properties_t pci{};
  pci.stype = ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES;
  if (ze.pci && ze.pci(device, &pci) == ZE_RESULT_SUCCESS) xpu.pci = pci_text(pci.address);
  xpu.memory_total_bytes = total_memory(ze, device);
  return xpu;
}

/// The GPUs of a driver, each followed by its tiles; `result` is that of zeDeviceGet.
std::vector<Described> devices_of(const LevelZero& ze, ze_driver_handle_t driver,
                                  ze_result_t& result) {
  std::vector<ze_device_handle_t> devices;
  result = list_into(
      devices, [&](auto* count, auto* handles) { return ze.devices(driver, count, handles); });
  std::vector<Described> all;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const auto device = describe(ze, devices[i]);
    if (!device) continue;
    const auto place = std::to_string(i);
    all.push_back({devices[i], {.xpu = *device, .place = place}});
    const auto tiles = listed<ze_device_handle_t>(
        [&](auto* count, auto* handles) { return ze.tiles(devices[i], count, handles); });
    for (std::size_t k = 0; k < tiles.size(); ++k) {
      if (auto tile = describe(ze, tiles[k])) {
        tile->pci = device->pci;
        all.push_back(
            {tiles[k], {.xpu = *tile, .place = place + "." + std::to_string(k), .tile = true}});
      }
    }
  }
  return all;
}

bool has_discrete(const std::vector<Described>& devices) {
  return std::ranges::any_of(devices, [](const auto& d) { return !d.device.xpu.integrated; });
}

}  // namespace

std::vector<LevelZeroDevice> list_intel_devices(bool sensors) {
  const LevelZero ze;
  if (sensors) prepare_sysman(ze.library);
  const auto begun = ze.init(ZE_INIT_FLAG_GPU_ONLY);
  if (begun == ZE_RESULT_ERROR_UNINITIALIZED)
    throw NoDriver("Level Zero has no driver (zeInit: " + hexadecimal(begun) + ")");
  if (begun != ZE_RESULT_SUCCESS) throw std::runtime_error("zeInit: " + hexadecimal(begun));

  std::vector<ze_driver_handle_t> drivers;
  if (const auto result = list_into(drivers, ze.drivers); result != ZE_RESULT_SUCCESS)
    throw std::runtime_error("zeDriverGet: " + hexadecimal(result));
  std::vector<std::vector<Described>> by_driver;
  auto failure = ZE_RESULT_SUCCESS;
  for (const auto driver : drivers) {
    auto result = ZE_RESULT_SUCCESS;
    by_driver.push_back(devices_of(ze, driver, result));
    if (result != ZE_RESULT_SUCCESS) failure = result;
  }
  std::ranges::stable_partition(by_driver, has_discrete);
  std::vector<Described> all;
  for (const auto& devices : by_driver) all.insert(all.end(), devices.begin(), devices.end());
  // Another driver (of an NPU) may fail, and nobody miss it.
  if (all.empty() && failure != ZE_RESULT_SUCCESS)
    throw std::runtime_error("zeDeviceGet: " + hexadecimal(failure));

  if (sensors) {
    std::vector<std::pair<ze_device_handle_t, Accelerator*>> devices;
    for (auto& [handle, device] : all) devices.emplace_back(handle, &device.xpu);
    read_sysman(ze.library, devices);
  }
  std::vector<LevelZeroDevice> listed_devices;
  for (auto& one : all) listed_devices.push_back(std::move(one.device));
  return listed_devices;
}

}  // namespace evolve::devices

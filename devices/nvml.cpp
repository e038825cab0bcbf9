#include "devices/nvml.hpp"

#include <array>

#include "devices/library.hpp"
#include "devices/masks.hpp"

namespace evolve::devices {
namespace {

// What is used of nvml.h, which is not free software in Debian. The names with a version are
// binary interfaces for good.
using Return = int;
using Handle = struct nvmlDevice_st*;

constexpr Return success = 0, driver_not_loaded = 9, no_permission = 4, gpu_is_lost = 15,
                 reset_required = 16;
constexpr unsigned temperature_gpu = 0;

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

struct Nvml {
  Library library{"libnvidia-ml.so.1"};
  Return (*init)() = library.get<Return()>("nvmlInit_v2");
  const char* (*error_string)(Return) = library.get<const char*(Return)>("nvmlErrorString");
  Return (*count)(unsigned*) = library.get<Return(unsigned*)>("nvmlDeviceGetCount_v2");
  Return (*by_index)(unsigned, Handle*) =
      library.get<Return(unsigned, Handle*)>("nvmlDeviceGetHandleByIndex_v2");
  Return (*name)(Handle, char*,
                 unsigned) = library.get<Return(Handle, char*, unsigned)>("nvmlDeviceGetName");
  Return (*uuid)(Handle, char*,
                 unsigned) = library.get<Return(Handle, char*, unsigned)>("nvmlDeviceGetUUID");
  Return (*memory)(Handle,
                   Memory*) = library.get<Return(Handle, Memory*)>("nvmlDeviceGetMemoryInfo");
  // Drivers before 2018, or without the sensor, lack these.
  Return (*pci)(Handle,
                PciInfo*) = library.find<Return(Handle, PciInfo*)>("nvmlDeviceGetPciInfo_v3");
  Return (*utilization)(Handle, Utilization*) =
      library.find<Return(Handle, Utilization*)>("nvmlDeviceGetUtilizationRates");
  Return (*temperature)(Handle, unsigned, unsigned*) =
      library.find<Return(Handle, unsigned, unsigned*)>("nvmlDeviceGetTemperature");
  Return (*milliwatts)(Handle, unsigned*) =
      library.find<Return(Handle, unsigned*)>("nvmlDeviceGetPowerUsage");
  // MIG came with driver 450.
  Return (*mig_mode)(Handle, unsigned*, unsigned*) =
      library.find<Return(Handle, unsigned*, unsigned*)>("nvmlDeviceGetMigMode");
  Return (*most_instances)(Handle, unsigned*) =
      library.find<Return(Handle, unsigned*)>("nvmlDeviceGetMaxMigDeviceCount");
  Return (*instance)(Handle, unsigned, Handle*) =
      library.find<Return(Handle, unsigned, Handle*)>("nvmlDeviceGetMigDeviceHandleByIndex");

  /// NVML has no words for codes that are newer than it.
  std::string text_of(Return code) const {
    const char* words = error_string(code);
    return words ? words : "error " + std::to_string(code);
  }
  std::runtime_error failure(const std::string& what, Return code) const {
    return std::runtime_error(what + ": " + text_of(code));
  }
};

/// Notes in `state` what a call says of the device, besides success; returns whether it succeeded.
bool succeeded(Return code, std::string& state) {
  if (code == gpu_is_lost) state = "lost";
  if (code == reset_required) state = "needs a reset";
  return code == success;
}

void read_sensors(const Nvml& nvml, Handle handle, Accelerator& gpu) {
  Utilization load{};
  if (nvml.utilization && succeeded(nvml.utilization(handle, &load), gpu.state))
    gpu.load_percent = load.gpu;
  unsigned value = 0;
  if (nvml.temperature && succeeded(nvml.temperature(handle, temperature_gpu, &value), gpu.state))
    gpu.temperature_celsius = value;
  if (nvml.milliwatts && succeeded(nvml.milliwatts(handle, &value), gpu.state))
    gpu.power_watts = value / 1000.0;
}

Accelerator describe(const Nvml& nvml, Handle handle) {
  Accelerator gpu{.kind = "cuda"};
  std::array<char, 96> text{};
  if (succeeded(nvml.name(handle, text.data(), text.size()), gpu.state)) gpu.name = text.data();
  if (succeeded(nvml.uuid(handle, text.data(), text.size()), gpu.state)) gpu.uuid = text.data();
  PciInfo pci{};
  if (nvml.pci && succeeded(nvml.pci(handle, &pci), gpu.state))
    gpu.pci = pci_text(pci.domain, pci.bus, pci.device, 0);
  Memory memory{};
  if (succeeded(nvml.memory(handle, &memory), gpu.state)) {
    gpu.memory_total_bytes = static_cast<std::int64_t>(memory.total);
    gpu.memory_free_bytes = static_cast<std::int64_t>(memory.free);
  }
  read_sensors(nvml, handle, gpu);
  return gpu;
}

bool is_in_mig_mode(const Nvml& nvml, Handle handle) {
  unsigned current = 0, pending = 0;
  return nvml.mig_mode && nvml.most_instances && nvml.instance &&
         nvml.mig_mode(handle, &current, &pending) == success && current != 0;
}

/// The MIG instances of a GPU in that mode that this process may see, with its PCI address.
std::vector<Accelerator> instances_of(const Nvml& nvml, Handle handle, const Accelerator& gpu) {
  unsigned most = 0;
  if (nvml.most_instances(handle, &most) != success) return {};
  std::vector<Accelerator> instances;
  for (unsigned i = 0; i < most; ++i) {
    Handle part = nullptr;
    if (nvml.instance(handle, i, &part) != success) continue;
    instances.push_back(describe(nvml, part));
    instances.back().pci = gpu.pci;
  }
  return instances;
}

}  // namespace

std::vector<Accelerator> list_nvidia_devices() {
  const Nvml nvml;
  const auto begun = nvml.init();
  if (begun == driver_not_loaded) throw NoDriver("the NVIDIA driver is not loaded");
  if (begun != success) throw nvml.failure("nvmlInit", begun);
  unsigned count = 0;
  if (const auto counted = nvml.count(&count); counted != success)
    throw nvml.failure("nvmlDeviceGetCount", counted);

  std::vector<Accelerator> all;
  for (unsigned i = 0; i < count; ++i) {
    Handle handle = nullptr;
    const auto opened = nvml.by_index(i, &handle);
    if (opened == no_permission) continue;  // another job's: CUDA does not count it either
    if (opened != success) {
      all.push_back({.kind = "cuda", .name = "NVIDIA GPU", .state = nvml.text_of(opened)});
      succeeded(opened, all.back().state);
      continue;
    }
    auto gpu = describe(nvml, handle);
    if (gpu.ok() && gpu.uuid.empty())
      gpu.state = "without a UUID, by which a process sees it alone";
    if (is_in_mig_mode(nvml, handle)) {
      const auto instances = instances_of(nvml, handle, gpu);
      all.insert(all.end(), instances.begin(), instances.end());
      if (!instances.empty()) continue;
      // CUDA runs on instances only: to it there is no such device.
      if (gpu.ok()) gpu.state = "in MIG mode, without an instance";
    }
    all.push_back(std::move(gpu));
  }
  const auto numbers = gpu_numbers(all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].index = static_cast<int>(i);
    // A Jetson's has no "GPU-", without which CUDA takes it for a list of numbers.
    const auto& uuid = all[i].uuid;
    all[i].mask = {{"CUDA_VISIBLE_DEVICES",
                    is_uuid_for_cuda(uuid) || uuid.empty() ? uuid : std::to_string(numbers[i])}};
  }
  return all;
}

}  // namespace evolve::devices

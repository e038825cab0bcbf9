#include "core/device_kind.hpp"

#include <algorithm>
#include <iterator>

#include "core/number.hpp"
#include "core/split.hpp"

namespace evolve::core {

const std::vector<DeviceKind>& device_kinds() {
  // An index of -1 hides all devices (it is what YOLOv5 sets for --device cpu). Level Zero's own
  // mask cannot hide all, SYCL's selector can.
  static const std::vector<DeviceKind> kinds = {
      {.name = "cpu", .maker = "", .mask = ""},
      {.name = "cuda",
       .maker = "NVIDIA",
       .mask = "CUDA_VISIBLE_DEVICES",
       .order = "CUDA_DEVICE_ORDER",
       .order_value = "PCI_BUS_ID",
       .has_driver = true,
       .hidden_by = {"CUDA_VISIBLE_DEVICES", "-1"}},
      {.name = "xpu",
       .maker = "Intel",
       .mask = "ZE_AFFINITY_MASK",
       .order = "ZE_FLAT_DEVICE_HIERARCHY",
       .has_driver = true,
       .hidden_by = {"ONEAPI_DEVICE_SELECTOR", "*:cpu"}},
      {.name = "gcu", .maker = "Enflame", .mask = "TOPS_VISIBLE_DEVICES"},
      // AMD's torch calls them "cuda".
      {.name = "hip",
       .maker = "AMD",
       .mask = "HIP_VISIBLE_DEVICES",
       .hidden_by = {"HIP_VISIBLE_DEVICES", "-1"},
       .also_called = "cuda"},
      {.name = "hpu", .maker = "Intel Gaudi", .mask = "HABANA_VISIBLE_MODULES"},
      {.name = "mlu", .maker = "Cambricon", .mask = "MLU_VISIBLE_DEVICES"},
      {.name = "mps", .maker = "Apple", .mask = ""},
      {.name = "npu", .maker = "Huawei Ascend", .mask = "ASCEND_RT_VISIBLE_DEVICES"},
  };
  return kinds;
}

std::vector<DeviceKind> kinds_with_driver() {
  std::vector<DeviceKind> some;
  std::ranges::copy_if(device_kinds(), std::back_inserter(some), &DeviceKind::has_driver);
  return some;
}

const DeviceKind* find_device_kind(std::string_view name) {
  const auto found = std::ranges::find(device_kinds(), name, &DeviceKind::name);
  return found == device_kinds().end() ? nullptr : &*found;
}

std::string kind_of(std::string_view device) {
  return std::string(device.substr(0, device.find(':')));
}

int index_of(std::string_view device) {
  const auto colon = device.find(':');
  return colon == device.npos ? 0 : parse_integer<int>(device.substr(colon + 1)).value();
}

bool is_cpu(std::string_view device) {
  return kind_of(device) == "cpu";
}

std::vector<std::string> members_of(const std::string& slot) {
  return split(slot, '+');
}

}  // namespace evolve::core

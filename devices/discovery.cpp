#include "devices/discovery.hpp"

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <cstdlib>
#include <functional>
#include <stdexcept>

#include "core/json.hpp"
#include "core/split.hpp"
#include "devices/level_zero.hpp"
#include "devices/library.hpp"
#include "devices/masks.hpp"
#include "devices/nvml.hpp"
#include "devices/probe.hpp"

namespace evolve::devices {
namespace {

using Json = nlohmann::ordered_json;
using std::chrono::milliseconds;

/// What a probe says: {"devices":[…]}, or {"none":"libze_loader.so.1 is not installed"}.
template <class Look>
std::string report_of(Look look) {
  Json report;
  try {
    report["devices"] = look();
  } catch (const NoDriver& none) {
    report["none"] = none.what();
  }
  return core::json_text(report);
}

std::string report_of_nvidia() {
  return report_of([] {
    auto list = Json::array();
    for (const auto& gpu : list_nvidia_devices()) list.push_back(to_json(gpu));
    return list;
  });
}

std::string report_of_intel(bool sensors) {
  return report_of([&] {
    auto list = Json::array();
    for (const auto& device : list_intel_devices(sensors)) {
      auto json = to_json(device.xpu);
      json["place"] = device.place;
      json["tile"] = device.tile;
      list.push_back(json);
    }
    return list;
  });
}

/// A driver's answer, or why there is none.
struct Answer {
  Json devices = Json::array();
  std::string remark;
  bool failed = false;
  bool crashed = false;
  pid_t stuck = 0;
};

Answer ask(const std::function<std::string()>& work, milliseconds limit) {
  const auto probed = in_a_probe(work, limit);
  if (!probed.problem.empty())
    return {
        .remark = probed.problem, .failed = true, .crashed = probed.crashed, .stuck = probed.stuck};
  const auto report = Json::parse(probed.text);
  if (report.contains("none")) return {.remark = report["none"]};
  return {.devices = report["devices"]};
}

std::vector<LevelZeroDevice> level_zero_devices(const Json& answer) {
  std::vector<LevelZeroDevice> devices;
  for (const auto& json : answer)
    devices.push_back({accelerator_from_json(json), json.at("place"), json.at("tile")});
  return devices;
}

void number(std::vector<Accelerator>& devices) {
  for (std::size_t i = 0; i < devices.size(); ++i) devices[i].index = static_cast<int>(i);
}

/// Numbers NVIDIA's GPUs as nvidia-smi does; MIG instances, several of a GPU, get none.
void number_gpus(std::vector<Accelerator>& all) {
  const auto numbers = gpu_numbers(all);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!all[i].uuid.starts_with("MIG-")) all[i].number = std::to_string(numbers[i]);
}

Discovery discover_nvidia(const Environment& environment, milliseconds limit) {
  const auto answer = ask(report_of_nvidia, limit);
  Discovery found{
      .devices = {}, .remark = answer.remark, .failed = answer.failed, .stuck = answer.stuck};
  for (const auto& json : answer.devices) found.devices.push_back(accelerator_from_json(json));
  if (found.devices.empty() && found.remark.empty()) found.remark = "NVML lists no GPU";
  number_gpus(found.devices);
  if (const auto mask = environment.find("CUDA_VISIBLE_DEVICES"); mask != environment.end()) {
    const bool any = !found.devices.empty();
    found.devices = seen_by_cuda(found.devices, mask->second);
    if (any && found.devices.empty())
      found.remark = "CUDA_VISIBLE_DEVICES='" + mask->second + "' hides every NVIDIA GPU";
  }
  number(found.devices);
  return found;
}

/// As far as the driver goes along: it may crash over its sensors.
Answer ask_intel(milliseconds limit, bool without_mask) {
  const auto look = [&](bool sensors) {
    return ask(
        [&] {
          if (without_mask) ::unsetenv("ZE_AFFINITY_MASK");
          return report_of_intel(sensors);
        },
        limit);
  };
  if (without_mask) return look(/*sensors=*/false);
  const auto answer = look(/*sensors=*/true);
  return answer.crashed ? look(/*sensors=*/false) : answer;
}

/// What the driver numbers by default: cards, or tiles where several devices are of one card.
std::string hierarchy_of(const std::vector<LevelZeroDevice>& all) {
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (!all[i].tile && !all[k].tile && !all[i].xpu.pci.empty() &&
          all[i].xpu.pci == all[k].xpu.pci)
        return "FLAT";
  return "COMPOSITE";
}

/// The GPUs among `visible`, numbered, with the mask that shows a process each of them alone.
/// `all` is what Level Zero lists where no mask is set: the places in it are those that
/// ZE_AFFINITY_MASK counts. `hierarchy` is this process' ZE_FLAT_DEVICE_HIERARCHY or "": then it is
/// found out, since a mask without it means cards to one driver and tiles to another. Throws
/// std::runtime_error when a visible device is not among all.
std::vector<Accelerator> masked_each(const std::vector<LevelZeroDevice>& visible,
                                     const std::vector<LevelZeroDevice>& all,
                                     std::string hierarchy) {
  if (hierarchy.empty()) hierarchy = hierarchy_of(all);
  std::vector<Accelerator> devices;
  for (const auto& device : visible) {
    if (device.tile) continue;
    auto xpu = device.xpu;
    if (xpu.uuid.empty()) {  // lost: nothing will run on it
      devices.push_back(std::move(xpu));
      continue;
    }
    const auto unmasked = std::ranges::find_if(
        all, [&](const LevelZeroDevice& other) { return other.xpu.uuid == xpu.uuid; });
    if (unmasked == all.end())
      throw std::runtime_error("ZE_AFFINITY_MASK shows " + xpu.name + " " + xpu.uuid +
                               ", which is not there without the mask");
    xpu.number = unmasked->place;
    xpu.mask = {{"ZE_AFFINITY_MASK", unmasked->place}, {"ZE_FLAT_DEVICE_HIERARCHY", hierarchy}};
    devices.push_back(std::move(xpu));
  }
  number(devices);
  return devices;
}

/// The devices out of `all` that SYCL shows under ONEAPI_DEVICE_SELECTOR=`selector`. Throws
/// std::invalid_argument for one that says more than which numbers of Level Zero's devices.
std::vector<Accelerator> seen_by_sycl(const std::vector<Accelerator>& all,
                                      const std::string& selector) {
  constexpr std::string_view backend = "level_zero:";
  const auto which = boost::starts_with(selector, backend) ? selector.substr(backend.size()) : "";
  if (selector == "*:cpu") return {};
  if (selector == "*:*" || selector == "*:gpu" || which == "*" || which == "gpu") return all;
  const auto numbers = core::split_and_trim(which, ',');
  const auto is_number = [](const std::string& entry) {
    return !entry.empty() && std::ranges::all_of(entry, boost::is_digit());
  };
  if (numbers.empty() || !std::ranges::all_of(numbers, is_number))
    throw std::invalid_argument(
        "ONEAPI_DEVICE_SELECTOR='" + selector +
        "' is more than evolve can follow: hide devices with ZE_AFFINITY_MASK");
  std::vector<Accelerator> seen;
  for (const auto& device : all)
    if (std::ranges::find(numbers, std::to_string(device.index)) != numbers.end())
      seen.push_back(device);
  return seen;
}

Discovery discover_intel(const Environment& environment, milliseconds limit) {
  const auto answer = ask_intel(limit, /*without_mask=*/false);
  const auto mask = value_in(environment, "ZE_AFFINITY_MASK");  // an empty one hides nothing
  if (answer.devices.empty()) {
    // Where a mask hides everything, loaders from 1.20 say that there is no driver.
    const bool hidden =
        !answer.failed && !mask.empty() && !ask_intel(limit, /*without_mask=*/true).devices.empty();
    if (hidden) return {.remark = "ZE_AFFINITY_MASK='" + mask + "' hides every Intel GPU"};
    const auto nothing = answer.remark.empty() ? "Level Zero lists no GPU" : answer.remark;
    return {.devices = {}, .remark = nothing, .failed = answer.failed, .stuck = answer.stuck};
  }
  const auto visible = level_zero_devices(answer.devices);
  auto all = visible;
  if (!mask.empty()) {
    const auto unmasked = ask_intel(limit, /*without_mask=*/true);
    if (unmasked.failed)
      return {.devices = {}, .remark = unmasked.remark, .failed = true, .stuck = unmasked.stuck};
    all = level_zero_devices(unmasked.devices);
  }
  Discovery found{.devices =
                      masked_each(visible, all, value_in(environment, "ZE_FLAT_DEVICE_HIERARCHY"))};
  if (const auto selector = value_in(environment, "ONEAPI_DEVICE_SELECTOR"); !selector.empty()) {
    found.devices = seen_by_sycl(found.devices, selector);
    number(found.devices);
    if (found.devices.empty())
      found.remark = "ONEAPI_DEVICE_SELECTOR='" + selector + "' hides every Intel GPU";
    // It has been heard, and would count within the mask again.
    for (auto& xpu : found.devices) xpu.mask.emplace_back("ONEAPI_DEVICE_SELECTOR", "level_zero:*");
  }
  return found;
}

}  // namespace

Discovery discover(const std::string& kind, const Environment& environment,
                   milliseconds limit) try {
  if (kind == "cuda") return discover_nvidia(environment, limit);
  if (kind == "xpu") return discover_intel(environment, limit);
  return {};
} catch (const std::runtime_error& error) {
  return {.devices = {}, .remark = error.what(), .failed = true};
} catch (const std::invalid_argument& not_followed) {
  return {.devices = {}, .remark = not_followed.what(), .failed = true, .not_followed = true};
}

}  // namespace evolve::devices

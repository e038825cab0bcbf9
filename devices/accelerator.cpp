#include "devices/accelerator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "core/device_kind.hpp"
#include "core/json.hpp"
#include "core/number.hpp"

namespace evolve::devices {
namespace {

using Json = nlohmann::ordered_json;

Json text_or_null(const std::string& text) {
  return text.empty() ? Json() : Json(text);
}

std::string text_in(const Json& json) {
  return json.is_null() ? "" : json.get<std::string>();
}

}  // namespace

std::string name_of(const Accelerator& accelerator) {
  return accelerator.kind + ":" + std::to_string(accelerator.index);
}

Accelerator together(const std::vector<Accelerator>& devices) {
  Accelerator all = devices.front();
  for (const auto& device : std::span(devices).subspan(1)) {
    if (all.ok()) all.state = device.state;
    if (!all.memory_free_bytes || !device.memory_free_bytes) {
      all.memory_total_bytes = all.memory_free_bytes = {};
    } else if (*device.memory_free_bytes < *all.memory_free_bytes) {
      all.memory_total_bytes = device.memory_total_bytes;
      all.memory_free_bytes = device.memory_free_bytes;
    }
    // Of an unknown number and a known one the known one counts.
    all.load_percent = std::max(all.load_percent, device.load_percent);
    all.temperature_celsius = std::max(all.temperature_celsius, device.temperature_celsius);
    if (device.power_watts) all.power_watts = all.power_watts.value_or(0) + *device.power_watts;
  }
  return all;
}

std::string pci_text(unsigned domain, unsigned bus, unsigned device, unsigned function) {
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", domain, bus, device, function);
}

std::string description(const Accelerator& a) {
  auto text = a.name;
  if (a.memory_total_bytes) text += ", " + core::gib(*a.memory_total_bytes) + " GiB";
  if (!a.pci.empty()) text += ", " + a.pci;
  if (!a.uuid.empty()) text += ", " + a.uuid;
  return text;
}

Json to_json(const Accelerator& a) {
  auto mask = Json::object();
  for (const auto& [variable, value] : a.mask) mask[variable] = value;
  return {{"device", name_of(a)},
          {"number", text_or_null(a.number)},
          {"name", a.name},
          {"uuid", text_or_null(a.uuid)},
          {"pci", text_or_null(a.pci)},
          {"memory_total_bytes", core::json_or_null(a.memory_total_bytes)},
          {"memory_free_bytes", core::json_or_null(a.memory_free_bytes)},
          {"state", a.state},
          {"integrated", a.integrated},
          {"load_percent", core::json_or_null(a.load_percent)},
          {"temperature_celsius", core::json_or_null(a.temperature_celsius)},
          {"power_watts", core::json_or_null(a.power_watts)},
          {"mask", mask}};
}

Accelerator accelerator_from_json(const Json& json) {
  const auto device = json.at("device").get<std::string>();
  const auto kind = core::kind_of(device);
  Accelerator a{
      .kind = kind,
      .index = core::index_of(device),
      .number = text_in(json.at("number")),
      .name = json.at("name"),
      .uuid = text_in(json.at("uuid")),
      .pci = text_in(json.at("pci")),
      .integrated = json.at("integrated"),
      .state = json.at("state"),
      .memory_total_bytes = core::value_or_nothing<std::int64_t>(json.at("memory_total_bytes")),
      .memory_free_bytes = core::value_or_nothing<std::int64_t>(json.at("memory_free_bytes")),
      .load_percent = core::value_or_nothing<double>(json.at("load_percent")),
      .temperature_celsius = core::value_or_nothing<double>(json.at("temperature_celsius")),
      .power_watts = core::value_or_nothing<double>(json.at("power_watts"))};
  for (const auto& [variable, value] : json.at("mask").items())
    a.mask.emplace_back(variable, value.get<std::string>());
  return a;
}

}  // namespace evolve::devices

// Which devices there are, for people and for programs.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <map>
#include <memory>

#include "cli/commands.hpp"
#include "cli/trainers/built_in_worker.hpp"
#include "core/device_kind.hpp"
#include "core/error.hpp"
#include "core/number.hpp"
#include "core/utf8.hpp"
#include "devices/devices.hpp"

namespace evolve::cli {
namespace {

using core::gib;
using devices::Accelerator;
using Row = std::vector<std::string>;

/// Everything found, by kind of GPU.
using Found = std::map<std::string, devices::Discovery>;

const std::string& maker_of(const std::string& kind) {
  return core::find_device_kind(kind)->maker;
}

/// Without the signs of registered names.
std::string short_name(std::string name) {
  for (const auto* sign : {"(R)", "(TM)", "(r)", "(tm)"}) boost::erase_all(name, sign);
  return name;
}

std::string memory_text(const Accelerator& device) {
  if (!device.memory_total_bytes) return "";
  if (!device.memory_free_bytes) return "? of " + gib(*device.memory_total_bytes) + " GiB";
  return gib(*device.memory_free_bytes) + " of " + gib(*device.memory_total_bytes) + " GiB";
}

std::string sensor_text(const std::optional<double>& value, const std::string& unit) {
  return value ? fmt::format("{:.0f} {}", *value, unit) : "";
}

Row row_of(const Accelerator& device, const std::string& name) {
  return {name,
          short_name(device.name),
          memory_text(device),
          sensor_text(device.load_percent, "%"),
          sensor_text(device.temperature_celsius, "°C"),
          sensor_text(device.power_watts, "W"),
          device.state,
          device.pci.empty() ? device.uuid : device.pci};
}

/// Columns as wide as they need; one that says nothing is left out.
void print_table(const Row& header, const std::vector<Row>& rows) {
  const auto is_number = [](std::size_t column) { return 2 <= column && column <= 5; };
  std::vector<std::size_t> widths(header.size());
  for (std::size_t column = 0; column < header.size(); ++column) {
    for (const auto& row : rows)
      widths[column] = std::max(widths[column], core::characters(row[column]));
    if (widths[column] > 0)
      widths[column] = std::max(widths[column], core::characters(header[column]));
  }
  const auto print = [&](const Row& row) {
    std::string line;
    for (std::size_t column = 0; column < row.size(); ++column) {
      if (widths[column] == 0) continue;
      const std::string padding(widths[column] - core::characters(row[column]), ' ');
      line += is_number(column) ? padding + row[column] : row[column] + padding;
      line += "  ";
    }
    boost::trim_right(line);
    fmt::print("{}\n", line);
  };
  print(header);
  for (const auto& row : rows) print(row);
}

/// What `auto` is for such a trainer: "cuda:0,cuda:1".
std::string taken_by_auto(const devices::Machine& machine,
                          const devices::TrainerTraits& trainer) try {
  return boost::join(devices::names_of(devices::choose("auto", machine, trainer).slots), ",");
} catch (const Error& refused) {
  return fmt::format("nothing ({})", refused.what());
}

void print_table(const devices::Machine& machine, const Found& found) {
  auto host = devices::host();
  host.name += ", " + core::counted(machine.usable_cores, "core");
  std::vector<Row> rows;
  for (const auto& [kind, discovery] : found)
    for (const auto& device : discovery.devices) rows.push_back(row_of(device, name_of(device)));
  rows.push_back(row_of(host, "cpu"));
  print_table({"device", "name", "free memory", "load", "temp", "power", "state", "address"}, rows);

  fmt::print("\n");
  for (const auto& [kind, discovery] : found)
    if (!discovery.remark.empty())
      fmt::print("{}: {}\n",
                 discovery.not_followed ? maker_of(kind) + " GPUs are not listed"
                 : discovery.failed     ? "the driver of " + maker_of(kind) + " GPUs fails"
                                        : "no " + maker_of(kind) + " GPU",
                 discovery.remark);
  const devices::TrainerTraits trainer{.drives = built_in_drives()};
  for (const auto& [kind, discovery] : found)
    if (!discovery.devices.empty() && !trainer.drives(kind))
      fmt::print("the built-in trainer's libtorch cannot use {} GPUs (docs/libtorch.md)\n",
                 maker_of(kind));
  const auto own = taken_by_auto(machine, trainer);
  const auto others = taken_by_auto(machine, {.external = true});
  if (own == others)
    fmt::print("--devices auto takes {}\n", own);
  else
    fmt::print("--devices auto takes {} for the built-in trainer, {} for any other\n", own, others);
}

void print_json(const Found& found) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& [kind, discovery] : found) {
    for (const auto& device : discovery.devices) list.push_back(to_json(device));
    if (discovery.failed) fmt::print(stderr, "evolve: {}: {}\n", maker_of(kind), discovery.remark);
  }
  auto cpu = to_json(devices::host());
  cpu["device"] = "cpu";
  list.push_back(cpu);
  fmt::print("{}\n", list.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

int list_devices(bool json) {
  auto machine = devices::this_machine();
  Found found;
  for (const auto& kind : core::kinds_with_driver()) found[kind.name] = machine.discover(kind.name);
  machine.discover = [&](const std::string& kind) { return found.at(kind); };
  json ? print_json(found) : print_table(machine, found);
  return 0;
}

}  // namespace

Command devices_command(CLI::App& app) {
  const auto json = std::make_shared<bool>(false);
  auto* command = app.add_subcommand("devices", "List the devices that can train");
  command->add_flag("--json", *json, "As JSON: an array of objects");
  return {command, [json] { return printed(list_devices(*json)); }};
}

}  // namespace evolve::cli

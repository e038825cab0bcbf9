// The kinds of devices, one row each.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace evolve::core {

struct DeviceKind {
  /// The kind's name in `--devices` and in the names of slots: "cuda" of "cuda:0".
  std::string name;
  std::string maker;
  /// The variable that lists the devices which a process sees; empty where there is none.
  std::string mask;
  /// What says how the entries of the mask are counted, and the order that our numbers have where
  /// that has to be said.
  std::string order = {}, order_value = {};
  /// Whether evolve asks a driver which devices there are, and hides the other kinds' devices from
  /// a process on one of this kind. Of other kinds it knows what the mask says.
  bool has_driver = false;
  /// The variable and the value that hide all of them.
  std::pair<std::string, std::string> hidden_by = {};
  /// The other kind under whose name the programs of this kind find its devices.
  std::string also_called = {};
};

/// All, those with a driver in the order in which they are preferred. Another may still be a kind
/// that an external trainer knows.
const std::vector<DeviceKind>& device_kinds();

/// The kinds whose driver evolve can ask.
std::vector<DeviceKind> kinds_with_driver();

/// Null for a kind of which evolve knows nothing.
const DeviceKind* find_device_kind(std::string_view name);

/// "cuda" of "cuda:0", of "cuda", and of the group "cuda:0+cuda:1", whose devices are of one kind.
std::string kind_of(std::string_view device);

/// 2 of "cuda:2"; 0 of "cuda", which is its first. For one device, not a group.
int index_of(std::string_view device);

/// Whether a device is the CPU or a share of it: "cpu", "cpu:3".
bool is_cpu(std::string_view device);

/// The devices of a slot by its name: "cuda:0" and "cuda:1" of "cuda:0+cuda:1"; "cuda:0" of itself.
std::vector<std::string> members_of(const std::string& slot);

}  // namespace evolve::core

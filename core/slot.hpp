// A place where one trial at a time can run.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/device_identity.hpp"

namespace evolve::core {

/// A device, a share of one or a group of devices, and what a process needs to see exactly that.
struct Slot {
  /// The slot's name as in `--devices`: "cpu:0", "xpu:1", "xpu:0+xpu:1".
  std::string name;
  /// Variables set before exec: visibility mask, thread counts.
  std::vector<std::pair<std::string, std::string>> environment;
  /// CPU cores the process is bound to; empty means all.
  std::vector<int> cores;
  /// Identities of the slot's devices, in their order; none where no driver is asked. What a worker
  /// reports of its device must be one of them.
  std::vector<DeviceIdentity> identities = {};
  /// What is put before a command that is to run there ("srun", "-n1"); empty: nothing.
  std::vector<std::string> launcher = {};
  /// What is put before the command hands it to a shell elsewhere, as ssh does: its words need
  /// quotes.
  bool remote_shell = false;
  /// A step of a job that may have other machines: neither the cores of this one nor its drivers
  /// tell whether the device is there.
  bool job_step = false;
  /// The machine that has it, as a scheduler calls it; "": not told.
  std::string machine = {};
  bool operator==(const Slot&) const = default;
};

/// Exclusive use of a slot; giving it up (destruction) frees the slot.
using Lease = std::unique_ptr<const Slot, std::function<void(const Slot*)>>;

}  // namespace evolve::core

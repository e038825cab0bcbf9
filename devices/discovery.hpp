// Which accelerators this process may use.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "devices/accelerator.hpp"
#include "devices/environment.hpp"

namespace evolve::devices {

/// A driver that has not told by then hangs. Many NVIDIA GPUs without persistence mode take 20 s.
constexpr std::chrono::seconds probe_limit{30};

/// What a person is told when a driver counts its devices in another order than when the run began.
inline constexpr std::string_view renumbered =
    "the driver has renumbered its devices; the run keeps its own numbers";

/// The devices of one kind, numbered from 0 in the order in which a program sees them.
struct Discovery {
  std::vector<Accelerator> devices;
  /// Why there is none, or why the driver could not be asked: "libnvidia-ml.so.1 is not installed".
  std::string remark;
  /// The driver is there and failed: it crashed, hung or reported an error.
  bool failed = false;
  /// What hides devices here is more than evolve can follow. It has `failed` too.
  bool not_followed = false;
  /// The process that asked it and is stuck in it. 0: none.
  pid_t stuck = 0;
};

/// Asks the driver of "cuda" or "xpu" devices, each in a probe (probe.hpp), and only it: no other
/// library is opened. Masks in `environment` (which is this process') hold: a device that they hide
/// is not there, and the others' `mask` is composed with them. A driver that crashes over its
/// sensors is asked without them. No device of any other kind is ever found. Memory and sensors are
/// those of the moment: to sample them, ask again.
Discovery discover(const std::string& kind, const Environment& environment,
                   std::chrono::milliseconds limit = probe_limit);

}  // namespace evolve::devices

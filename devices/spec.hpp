// The grammar of `--devices`.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace evolve::devices {

/// "auto": all CUDA devices, else all XPUs, else CPU cores.
struct Automatic {
  bool operator==(const Automatic&) const = default;
};

/// "slurm": the devices of the allocation.
struct Allocation {
  bool operator==(const Allocation&) const = default;
};

/// "-1": an idle GPU, the idlest first.
struct IdleGpu {
  bool operator==(const IdleGpu&) const = default;
};

/// "0", YOLO's habit: a CUDA device if there is any, else an XPU.
struct Gpu {
  int index = 0;
  bool operator==(const Gpu&) const = default;
};

/// "cpu": all cores as one device.
struct WholeCpu {
  bool operator==(const WholeCpu&) const = default;
};

/// "xpu:*"
struct AllOf {
  std::string kind;
  bool operator==(const AllOf&) const = default;
};

/// "cuda:0*2"; "xpu" is "xpu:0".
struct Device {
  std::string kind;
  int index = 0;
  /// Trials at a time on it, from 1.
  int trials = 1;
  bool operator==(const Device&) const = default;
};

/// "xpu:0+xpu:1": devices of one kind that train one detector together.
struct Group {
  std::string kind;
  /// Two or more, in the order in which they are named.
  std::vector<int> indices;
  bool operator==(const Group&) const = default;
};

using Request = std::variant<Automatic, Allocation, IdleGpu, Gpu, WholeCpu, AllOf, Device, Group>;

/// What a specification asks for, in its order: items with commas between them, each one of
///
///     auto | slurm | -1 | INDEX | KIND | KIND:* | KIND:INDEX | KIND:INDEX*TRIALS |
///     KIND:INDEX+KIND:INDEX+…
///
/// KIND is a word ("cpu", "cuda", "xpu", "mps", "gcu"), INDEX counts from 0, TRIALS from 1. Capital
/// letters, blanks around an item and the full-width signs ： and ， are fine. `auto` and `slurm`
/// stand alone. Throws std::invalid_argument, in words that can follow "--devices SPEC: ", when the
/// text is empty or malformed or names a device twice; only "-1" may be repeated.
std::vector<Request> parse_spec(std::string_view spec);

/// The kind whose devices the request names one by one or as a whole, or "".
std::string kind_of(const Request& request);

/// As it is written in a specification: "cuda:0", "xpu:*", "-1", "xpu:0+xpu:1".
std::string name_of(const Request& request);

}  // namespace evolve::devices

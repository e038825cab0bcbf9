// What this process' environment says of devices, and what that of a slot's process has.
#pragma once

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace evolve::devices {

/// Variables and values.
using Environment = std::map<std::string, std::string>;

/// The variables of this process that hide devices from it (`also` too), or say that it is a Slurm
/// job: all that discovery and choose() look at.
Environment device_environment(const std::string& also = "");

/// What a variable says; "" when it is not set.
std::string value_in(const Environment& environment, const std::string& variable);

/// Variables and values, in the order in which they are set.
using Variables = std::vector<std::pair<std::string, std::string>>;

/// How many threads a process' libraries start: its share of the machine's cores.
inline constexpr std::array thread_variables = {"OMP_NUM_THREADS", "MKL_NUM_THREADS",
                                                "OPENBLAS_NUM_THREADS"};

/// The environment of a process on `threads` CPU cores that sees of its slot's kind what `mask`
/// shows, and no device of another kind; "cpu" has no mask.
Variables environment_of(const std::string& slot, const std::string& kind, const Variables& mask,
                         int threads);

}  // namespace evolve::devices

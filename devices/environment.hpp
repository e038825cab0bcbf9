// What the environment of a slot's process has.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace evolve::devices {

using Variables = std::vector<std::pair<std::string, std::string>>;

/// How many threads a process' libraries start: its share of the machine's cores.
inline constexpr std::array thread_variables = {"OMP_NUM_THREADS", "MKL_NUM_THREADS",
                                                "OPENBLAS_NUM_THREADS"};

/// Of a process on `threads` CPU cores that sees of its slot's kind what `mask` shows, and no
/// device of another kind; "cpu" has no mask.
Variables environment_of(const std::string& slot, const std::string& kind, const Variables& mask,
                         int threads);

}  // namespace evolve::devices

#include "core/core_mask.hpp"

#include <algorithm>

namespace evolve::core {
namespace {

/// The greatest number of cores that Linux can be configured for.
constexpr int most_cores = 8192;

std::vector<cpu_set_t> words_for(int cores) {
  return std::vector<cpu_set_t>((static_cast<std::size_t>(cores) + CPU_SETSIZE - 1) / CPU_SETSIZE);
}

}  // namespace

CoreMask::CoreMask(const std::vector<int>& cores)
    : words_(words_for(cores.empty() ? 1 : 1 + *std::ranges::max_element(cores))) {
  for (const int core : cores) CPU_SET_S(static_cast<std::size_t>(core), bytes(), words_.data());
}

CoreMask CoreMask::of_this_thread() {
  CoreMask mask;
  mask.words_ = words_for(most_cores);
  if (::sched_getaffinity(0, mask.bytes(), mask.words_.data()) != 0)
    CPU_ZERO_S(mask.bytes(), mask.words_.data());
  return mask;
}

bool CoreMask::bind_this_thread() const noexcept {
  return ::sched_setaffinity(0, bytes(), words_.data()) == 0;
}

std::vector<int> CoreMask::cores() const {
  std::vector<int> cores;
  for (std::size_t core = 0; core < 8 * bytes(); ++core)
    if (CPU_ISSET_S(core, bytes(), words_.data())) cores.push_back(static_cast<int>(core));
  return cores;
}

}  // namespace evolve::core

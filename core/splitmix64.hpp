// The mixer of seeds.
#pragma once

#include <cstdint>

namespace evolve::core {

/// One step of SplitMix64 (Steele, Lea and Flood 2014) from a state: every bit of it moves every
/// bit of the result.
constexpr std::uint64_t splitmix64(std::uint64_t state) {
  std::uint64_t z = state + 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

}  // namespace evolve::core

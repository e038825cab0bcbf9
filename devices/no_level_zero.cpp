// In place of level_zero.cpp where Level Zero does not exist (Debian has it for x86-64 alone).
#include "devices/level_zero.hpp"
#include "devices/library.hpp"

namespace evolve::devices {

std::vector<LevelZeroDevice> list_intel_devices(bool /*sensors*/) {
  throw NoDriver("there is no Level Zero for this kind of processor");
}

}  // namespace evolve::devices

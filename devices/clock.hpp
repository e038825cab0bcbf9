// The clock by which devices rest and are sampled.
#pragma once

#include <chrono>

namespace evolve::devices {

using Clock = std::chrono::steady_clock;

}  // namespace evolve::devices

// A card that is none: a device of torch's that is not the CPU, for tests on machines without one.
//
// It is torch's "privateuseone:0"; before 2.1, where a model cannot be moved to such a device, it
// takes the place of the "xpu:0" that these versions know without having any. Its memory is its
// own: the host has addresses of it and faults when it touches them (simulated_memory.hpp). Its
// kernels are the CPU's, run at once on the same bytes, so that results are the CPU's; an operator
// that is given a tensor of the host's besides is refused, as CUDA does. What a program asks of it
// is counted as a real card would be asked. A program gets it by linking simulated_accelerator.
#pragma once

#include <torch/types.h>
#include <torch/version.h>

#include <cstdint>
#include <map>
#include <string>

namespace evolve::test {

#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 1)
#define EVOLVE_SIMULATED_KIND PrivateUse1
#else
#define EVOLVE_SIMULATED_KIND XPU
#endif
inline const torch::Device simulated_card = {torch::DeviceType::EVOLVE_SIMULATED_KIND, 0};

/// What has been asked of the card.
struct CardCounts {
  /// Operators that computed or copied something on the card. Allocations and views are none.
  std::int64_t launches = 0;
  /// Copies from and to the host.
  std::int64_t uploads = 0, uploaded_bytes = 0;
  std::int64_t downloads = 0, downloaded_bytes = 0;
  /// How often the host stood still until the card had done all that it was asked: for a number or
  /// a copy that it reads at once, for a copy out of memory that is not page-locked, for results
  /// whose size depends on the card's numbers, and where the program says so.
  std::int64_t waits = 0;
  /// The launches, by operator.
  std::map<std::string, std::int64_t> operators = {};
};

/// Since the process began.
CardCounts card_counts();
CardCounts operator-(const CardCounts& after, const CardCounts& before);

}  // namespace evolve::test

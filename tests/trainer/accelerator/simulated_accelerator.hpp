// A card that is none: a device of torch's that is not the CPU, for tests on machines without one.
//
// It takes the place of "xpu:0", which every build of torch knows and builds for the CPU or for
// CUDA do not have. ("privateuseone", torch's name for devices of others, will not do: a tensor of
// the CPU may become a view of one on a card, as a model's weights do, only on devices of torch's
// own.) Its memory is its own: the host has addresses of it and faults when it touches them
// (simulated_memory.hpp). Its kernels are the CPU's, run at once on the same bytes, so that results
// are the CPU's; an operator that is given a tensor of the host's besides is refused, as CUDA does.
// What a program asks of it is counted as a real card would be asked. A program gets it by linking
// simulated_accelerator.
#pragma once

#include <torch/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace evolve::test {

inline const torch::Device simulated_card = {torch::kXPU, 0};

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

/// While it lives, the card refuses every allocation of more than `bytes`, as a full one would.
class NothingLargerThan {
 public:
  explicit NothingLargerThan(std::size_t bytes);
  ~NothingLargerThan();
  NothingLargerThan(const NothingLargerThan&) = delete;
  NothingLargerThan& operator=(const NothingLargerThan&) = delete;
};

/// While it lives, torch sees as many cards, as where no mask hides the others.
class VisibleCards {
 public:
  explicit VisibleCards(c10::DeviceIndex count);
  ~VisibleCards();
  VisibleCards(const VisibleCards&) = delete;
  VisibleCards& operator=(const VisibleCards&) = delete;
};

/// Since the process began.
CardCounts card_counts();
CardCounts operator-(const CardCounts& after, const CardCounts& before);

}  // namespace evolve::test

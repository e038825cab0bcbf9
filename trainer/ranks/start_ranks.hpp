// How the process that evolve started becomes rank 0 and starts the others.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "devices/environment.hpp"
#include "trainer/ranks/ranks.hpp"

namespace evolve::trainer {

/// What a rank has of its slot.
struct RankShare {
  /// "xpu:1"
  std::string device;
  /// The mask that shows it alone, as number 0.
  std::vector<std::pair<std::string, std::string>> mask;
  /// The CPU cores of a CPU's rank; empty: all that the slot has.
  std::vector<int> cores;
};

/// The share of each device of a slot ("xpu:0+xpu:1"), in its order. `environment` has the slot's
/// masks, `cores` are those of this process; each CPU's rank gets an equal part of them. Throws
/// `Error` when the slot's mask does not show as many devices as the slot has.
std::vector<RankShare> rank_shares(const std::string& slot, const devices::Environment& environment,
                                   const std::vector<int>& cores);

/// Leaves this process with a share and nothing else; before it has threads, or opens a driver.
void confine(const RankShare& share);

/// Starts a process of this program for each share but the first, which is that of this one. They
/// die with the calling thread. `on_alive`: see Ranks. Throws std::system_error.
std::shared_ptr<Ranks> start_ranks(const std::vector<RankShare>& shares,
                                   std::function<void()> on_alive);

/// What precedes a rank's number in its command line.
constexpr const char* rank_option = "--rank";

/// In a process of start_ranks(): rank `rank` of so many. Its standard output is standard error
/// from now on.
std::shared_ptr<Ranks> join_ranks(int rank, int count);

}  // namespace evolve::trainer

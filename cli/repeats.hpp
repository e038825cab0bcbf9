// Training the best trials again with other seeds: how lucky was the best?
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cli/record.hpp"
#include "cli/replay.hpp"
#include "results/repeats_csv.hpp"

namespace evolve::cli {

/// Knows which trials are the best so far and which of them have been repeated.
class Repeats {
 public:
  /// The best `wanted` trials are to be repeated, each once. `finished` and `outcomes` are what the
  /// journal has of trials and of repeats.
  Repeats(int wanted, std::uint64_t run_seed, const std::vector<Finished>& finished,
          const std::vector<hyp::Outcome>& outcomes);

  /// A trial has completed.
  void offer(const Finished& finished);
  /// The next attempts at repeats of the best trials that have none yet, the best first.
  std::vector<Attempt> missing() const;
  /// An attempt at a repeat has ended.
  void tell(const hyp::Outcome& outcome);

  /// The repeats that completed, in that order.
  const std::vector<results::Repeat>& completed() const { return completed_; }

 private:
  void add(const hyp::Outcome& outcome, const std::vector<Finished>& among);

  int wanted_;
  std::uint64_t run_seed_;
  /// The best `wanted` trials, best first, among equals the first completed.
  std::vector<Finished> best_;
  /// The last outcome of each trial's repeat.
  std::map<int, hyp::Outcome> last_;
  std::vector<results::Repeat> completed_;
};

/// "Trained again with other seeds: trial 37 0.2975 → 0.2810, …; on average 0.0120 less".
std::string repeat_summary(const std::vector<results::Repeat>& repeats);

}  // namespace evolve::cli

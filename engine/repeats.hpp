// Training the best trials again with other seeds: how lucky was the best?
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hyp/trial.hpp"
#include "results/repeats_csv.hpp"

namespace evolve::engine {

/// A completed trial.
struct Finished {
  int trial = 0;
  hyp::Hyperparameters hyp;
  hyp::Metrics metrics;
  double fitness = 0;
};

/// A try at a trial or at its repeat.
struct Attempt {
  hyp::Trial trial;
  /// From 1; one more than the failures that were the trial's.
  int number = 1;
  /// The devices where earlier attempts failed, the last one last.
  std::vector<std::string> failed_on = {};
};

/// Knows which trials are the best so far and which of them have been repeated.
class Repeats {
 public:
  /// The best `wanted` trials are to be repeated, each once.
  Repeats(int wanted, std::uint64_t run_seed) : wanted_(wanted), run_seed_(run_seed) {}

  /// So many are wanted from now on, of these.
  void want(int wanted, const std::vector<Finished>& completed);
  int wanted() const { return wanted_; }
  /// A trial has completed.
  void offer(const Finished& finished);
  /// An attempt at a repeat of one of these has ended.
  void add(const hyp::Outcome& outcome, const std::vector<Finished>& completed);

  /// The next attempts at repeats of the best trials that have none yet, the best first.
  std::vector<Attempt> missing() const;
  /// The repeats that completed, in that order.
  const std::vector<results::Repeat>& completed() const { return completed_; }

 private:
  int wanted_;
  std::uint64_t run_seed_;
  /// The best `wanted` trials, best first, among equals the first completed.
  std::vector<Finished> best_;
  /// The last outcome of each trial's repeat.
  std::map<int, hyp::Outcome> last_;
  std::vector<results::Repeat> completed_;
};

}  // namespace evolve::engine

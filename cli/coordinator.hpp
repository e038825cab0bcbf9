// The heart: asks the evolution for trials while slots are free, journals how they end, tells the
// evolution.
#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <vector>

#include "cli/fleet.hpp"
#include "cli/plan.hpp"
#include "cli/record.hpp"
#include "cli/repeats.hpp"
#include "cli/replay.hpp"
#include "cli/screen.hpp"
#include "ga/evolution.hpp"
#include "results/journal.hpp"
#include "results/run_directory.hpp"
#include "workers/supervise/worker_set.hpp"

namespace evolve::cli {

class Coordinator {
 public:
  /// `replayed` is where the run stands: nothing for a new one.
  Coordinator(const Plan& plan, results::RunDirectory directory, results::Journal journal,
              ga::Evolution evolution, Replayed replayed, Screen& screen);
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  /// Runs to the end, the time limit or a signal. Returns 0, or 128 + the signal.
  int run();

  const std::optional<Finished>& best() const { return record_.best(); }
  /// The first trial that failed for good.
  const std::optional<hyp::Failed>& first_failure() const { return first_failure_; }
  /// Why nothing can go on, when no device is in order.
  const std::optional<std::string>& no_usable_device() const { return fleet_.no_usable_device(); }
  /// The fitness of trial 0, if it completed.
  const std::optional<double>& start_fitness() const { return start_fitness_; }
  const ga::Evolution& evolution() const { return evolution_; }
  const Repeats& repeats() const { return repeats_; }
  /// Nothing is left to be trained.
  bool finished() const { return evolution_.done() && repeats_.missing().empty(); }
  const ga::EarlyStopping& early_stopping() const { return early_stopping_; }

 private:
  void start_trials();
  /// Into the journal and onto the screen.
  void publish(const DeviceNews& news);
  /// When the search is done, its best are to be trained again.
  void open_repeats();
  void start(Attempt attempt, core::Lease lease);
  /// How a worker is to train, and what is said to a trial at a rung.
  workers::WorkerSettings settings(const Plan& plan);
  std::vector<int> rungs_for(const hyp::Trial& trial) const;
  bool stops(const hyp::Rung& rung);
  void take(std::vector<hyp::Outcome> outcomes);
  void tell(const hyp::Outcome& outcome);
  void completed(const hyp::Outcome& outcome, const Finished& finished);
  void repeated(const hyp::Outcome& outcome, const hyp::Completed& result);
  void stopped(const hyp::Outcome& outcome, const hyp::Stopped& stop);
  void failed(const hyp::Outcome& outcome, const hyp::Failed& failure, Attempt attempt);
  void update_population();
  bool out_of_time() const;
  double seconds() const;
  Standing standing() const;

  int retries_;
  int epochs_;
  bool early_stop_;
  std::optional<double> time_limit_;
  results::RunDirectory directory_;
  results::Journal journal_;
  ga::Evolution evolution_;
  ga::EarlyStopping early_stopping_;
  Record record_;
  Repeats repeats_;
  bool repeating_ = false;
  Screen& screen_;
  workers::WorkerSet workers_;
  Fleet fleet_;
  /// To be started before any new trial.
  std::deque<Attempt> open_;
  std::vector<Attempt> running_;
  std::optional<hyp::Failed> first_failure_;
  std::optional<double> start_fitness_;
  int generation_ = 0;
  int ended_here_ = 0;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace evolve::cli

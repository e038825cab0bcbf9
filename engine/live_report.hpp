// Keeps report.html and metrics.prom up to date while a run goes on.
#pragma once

#include <chrono>
#include <string>

#include "engine/run_state.hpp"
#include "results/report.hpp"
#include "results/run_directory.hpp"
#include "results/timeline.hpp"

namespace evolve::engine {

class LiveReport {
 public:
  using Clock = std::chrono::steady_clock;

  /// The report of the run in this folder, of whose journal this is what it has so far.
  LiveReport(results::RunDirectory directory, const results::JournalContents& contents);

  /// An event that is in the journal too.
  void add(const results::Event& event, core::Time time) {
    timeline_.add(event, time);
    has_news_ = true;
  }

  /// Writes both where they have not all events, unless they were written a short while ago: at
  /// most one hundredth of the time is spent on it. What cannot be written is left as it is.
  void update(const RunState& state, Clock::time_point now);
  /// Writes both, for the last time. Throws `Error` when that cannot be done; what says that the
  /// run goes on does not stay behind.
  void close(const RunState& state) const;

 private:
  results::RunReport report(const RunState& state, bool going_on) const;

  results::RunDirectory directory_;
  std::string name_;
  std::string label_;  // wherever the run is resumed from
  results::RunSettings settings_;
  results::Timeline timeline_;
  Clock::time_point due_;
  bool has_news_ = true;
};

}  // namespace evolve::engine

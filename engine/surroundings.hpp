// What the surroundings of a run's trials (data set, disk, devices, the program) have done to them,
// as far as the ways in which trainings ended tell.
#pragma once

#include <cstdint>

#include "hyp/outcome.hpp"

namespace evolve::engine {

class Surroundings {
 public:
  /// How an attempt ended that had started with event number `started` of the run.
  void apply(const hyp::Outcome& outcome, std::int64_t started);
  /// A training that was to tell whether they are in order went well: event number `event`.
  void in_order(std::int64_t event);

  /// The surroundings' failures since a trial was last trained, and the last one.
  int failures() const { return failures_; }
  const hyp::Failed& last_failure() const { return last_failure_; }
  /// Trials that failed for good before their first epoch and did not say why
  /// (hyp::is_unexplained), since an epoch was last trained.
  int failed_in_a_row() const { return failed_in_a_row_; }
  /// Trials that failed for good after an epoch and did not say why, as long as no training has
  /// come to an end, to a rung where it was stopped, or to a pause.
  int failed_without_success() const { return failed_without_success_; }
  /// The last one of them.
  const hyp::Failed& last_without_success() const { return last_without_success_; }
  /// Whether a trial that started after that event has been trained since, or a probe was.
  bool trained_since(std::int64_t event) const { return event < trained_start_; }
  /// Whether a trial that started after that event was paused: what it leaves then no other
  /// training writes.
  bool paused_since(std::int64_t event) const { return event < paused_start_; }

 private:
  int failures_ = 0;
  hyp::Failed last_failure_;
  int failed_in_a_row_ = 0;
  bool succeeded_ = false;
  int failed_without_success_ = 0;
  hyp::Failed last_without_success_;
  /// The latest start of a trial that was trained, or the latest probe.
  std::int64_t trained_start_ = 0;
  /// The latest start of a trial that was paused.
  std::int64_t paused_start_ = 0;
};

}  // namespace evolve::engine

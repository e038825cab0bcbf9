// Who watches a run: a screen, a report, a test. The engine knows none of them.
#pragma once

#include <string>
#include <vector>

#include "engine/run_state.hpp"
#include "workers/supervise/worker_set.hpp"

namespace evolve::engine {

/// All calls come from the thread of `Run::run`, from within it. What they throw ends the run.
class Observer {
 public:
  virtual ~Observer() = default;
  /// An event is in the journal, and the state has it.
  virtual void on_event(const results::Event&, const RunState&) {}
  /// What is under way; a few times a second.
  virtual void on_progress(const RunState&, const std::vector<workers::Progress>&) {}
  /// The `devices` file asks for what cannot be; the devices stay as they are.
  virtual void on_devices_refused(const std::string&) {}
  /// A driver had numbered its devices anew; from now on trainers are told their new numbers.
  virtual void on_devices_renumbered() {}
  /// What all trials begin with is another file now, and none is started: what is wrong; "": it is
  /// what it was again.
  virtual void on_change(const std::string&) {}
  /// evolve.png could not be drawn, for this reason: costs a plot, not a run.
  virtual void on_plot_failed(const std::string&) {}
  /// The last report.html, or metrics.prom, could not be written, for this reason: costs that file,
  /// not a run.
  virtual void on_report_failed(const std::string&) {}
};

}  // namespace evolve::engine

// The worker processes of a run: one per slot, alive across trials, replaced after any failure.
//
// messages.hpp is what is said, process.hpp a child process that talks in lines, child_reaper.hpp
// what stands between it and us, supervised_process.hpp how it is watched and ended, worker.hpp one
// process with its trial; the set below is what the engine sees. It reports what happened and
// judges nothing: neither what a result is worth nor whose fault a failure is.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/slot.hpp"
#include "core/stop_source.hpp"
#include "core/worker_count.hpp"
#include "hyp/metrics.hpp"
#include "hyp/outcome.hpp"
#include "hyp/rung.hpp"
#include "workers/protocol/messages.hpp"

namespace evolve::workers {

struct WorkerSettings {
  /// The trainer's command: program and arguments, run without a shell.
  std::vector<std::string> command;
  /// What named that program, as errors say it: "--trainer-command"; empty: evolve brings it along.
  std::string named_by;
  /// The longest that a trial may take in all.
  std::optional<std::chrono::seconds> trial_timeout;
  /// The longest time without a message from a worker at work; its log is not a message. A worker
  /// that sends `alive` has a minute at least. Nothing: as long as it takes.
  std::optional<std::chrono::seconds> hang_timeout = std::chrono::seconds(600);
};

/// A trial for a worker.
struct Assignment {
  /// What the worker is told; the device is the slot's. The trial's folder is absolute; it is made.
  /// Its log is the file `log` in it.
  Train order;
  /// What the trial has taken until now, in all, where it goes on.
  std::chrono::milliseconds before{};
};

/// The trial waits at a rung for `WorkerSet::decide`.
struct AtRung {
  int trial = 0;
  /// From 1.
  int epoch = 0;
  hyp::Metrics metrics;
  /// Name of the slot.
  std::string device;
  /// The worker may be told to pause.
  bool can_pause = false;
  bool operator==(const AtRung&) const = default;
};

/// The trial was trained.
struct Trained {
  int trial = 0;
  hyp::Metrics metrics;
  /// What the worker was told at a rung and did: `go_on` is a training to its end, as the trainer
  /// sees it.
  hyp::Decision obeyed = hyp::Decision::go_on;
  /// The one at whose end it was stopped or paused; else its last.
  int epoch = 0;
  /// The furthest that it had reported before.
  int reported = 0;
  std::string device;
  /// In all, and of these for what it prepared (Alive::preparing).
  double seconds = 0, prepared = 0;
  /// What the worker told of the device that it has.
  core::DeviceIdentity identity = {};
};

/// The trial was not trained to an end; the worker and its descendants are gone.
struct NotTrained {
  int trial = 0;
  hyp::FailureKind kind = hyp::FailureKind::other;
  std::string message;
  /// The worker had not yet reported that it can take work, or could not be started at all.
  bool failed_before_ready = false;
  /// This machine could not start the worker, or its launcher.
  bool not_started = false;
  /// There is no such program, or it can never be executed.
  bool no_program = false;
  /// The trial was taken away by `limit()`, or what its process wrote first may have been about the
  /// one before.
  bool excused = false;
  std::string device;
  double seconds = 0, prepared = 0;
  /// The last epoch that was reported; 0: none, or none since it went on.
  int epoch = 0;
  core::DeviceIdentity identity = {};
};

using WorkerEvent = std::variant<AtRung, Trained, NotTrained>;

/// Where a trial under way stands.
struct Progress {
  int trial = 0;
  std::string device;
  /// The last one that ended; 0 before the first.
  int epoch = 0;
  int epochs = 0;
  hyp::Metrics metrics;
  /// Where it went on.
  int start_epoch = 0;
  /// What is done before it is trained (Alive::preparing); "": it is.
  std::string preparing = {};
};

/// The workers of a run, for one thread. They and all of their descendants die with the set. No
/// signal handler is installed: `stop` interrupts `wait`, and must outlive the set.
class WorkerSet {
 public:
  WorkerSet(WorkerSettings settings, const core::StopSource& stop);
  ~WorkerSet();
  /// Ends every worker and its process group: asks (a worker at work by SIGTERM), waits for two
  /// seconds at most (one, when `stop` was requested), then terminates, then kills. A further
  /// request of `stop` kills at once. The destructor does the same.
  void end() noexcept;

  /// Hands a trial to the slot's worker, which is started first if there is none, once an earlier
  /// one that is about to end is gone (it is not waited for here). A command that cannot be
  /// executed is a `NotTrained`, of kind `other`, `failed_before_ready` and `not_started`. The
  /// lease comes back to its pool when wait() returns the trial's end. Throws `Error` when the log
  /// cannot be written.
  void start(Assignment assignment, core::Lease lease);
  /// Starts a worker on a slot that has none, to wait for its first trial. Where it cannot be
  /// started, start() will say so.
  void warm_up(const core::Slot& slot);
  /// Whether the trial waits at a rung. One that was reported there may have gone on unasked, or
  /// ended, by now.
  bool waits_at_rung(int trial) const;
  /// The decision about a trial that waits at a rung. Only one that can may be told to pause.
  void decide(int trial, hyp::Decision decision);

  /// Waits until something happened and returns all of it, in the order in which it happened; an
  /// empty vector after `timeout` without anything. Nothing: `stop` was requested, and no event is
  /// left to return; failures are none then, for what stops us may have stopped the workers, too (a
  /// failure is held for 50 ms, in which that may turn out). Throws `Error` when a log cannot be
  /// written.
  std::optional<std::vector<WorkerEvent>> wait(std::chrono::milliseconds timeout);

  /// So many workers may be on a slot's device, by the slot's name: the others end when they have
  /// no trial, or `at_once`: then what they train fails as on a device that is lost.
  void limit(const std::string& slot, int most, bool at_once = false);

  /// Number of trials handed over whose end has not been returned.
  int busy() const;
  /// Progress of each trial under way, in the order in which their workers were started.
  std::vector<Progress> progress() const;
  /// The workers on a slot's device, by the slot's name.
  core::WorkerCount count(const std::string& slot) const;
  /// A worker process could be started.
  bool ever_started() const;
  /// Whether the first one that was ready may be told to pause; nothing while none was. wait()
  /// returns when this is known.
  std::optional<bool> can_pause() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace evolve::workers

// The heart: asks the search for trials while slots are free, records how they end, and lets the
// state follow.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/slot.hpp"
#include "core/stop_source.hpp"
#include "engine/device_file.hpp"
#include "engine/fleet.hpp"
#include "engine/live_report.hpp"
#include "engine/observer.hpp"
#include "engine/run_files.hpp"
#include "engine/run_state.hpp"
#include "engine/settings.hpp"
#include "engine/time_limit.hpp"
#include "results/journal.hpp"
#include "results/run_directory.hpp"
#include "workers/supervise/worker_set.hpp"

namespace evolve::engine {

/// Why a run came to its end.
enum class RunEnd {
  /// Nothing is left to be trained.
  finished,
  time_limit,
  /// The stop source was asked.
  stopped,
  /// Every device is quarantined.
  no_usable_device,
  /// Trials would train on something else than those before.
  inputs_changed,
  /// Trials were trained, and none of them has ended well.
  no_success,
  /// What every trial needs failed several times in a row: RunState::surroundings says
  /// what.
  surroundings,
};

class Run {
 public:
  /// `state` is the fold of what `journal` has. `stop` and `observer` must outlive the run. Throws
  /// `Error` when a file cannot be written.
  Run(const Settings& settings, results::RunDirectory directory, results::Journal journal,
      RunState state, const core::StopSource& stop, Observer& observer);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// Runs to its end, and tells why it came. Throws `Error` when the disk is full, or no worker can
  /// be started at all.
  RunEnd run();

  /// What is recorded is durable, in the state, in the files, and the observer has seen it.
  void record(const std::vector<results::Event>& events);
  /// Records the slots of a run that goes on, where they are others than it had.
  void record_devices();
  static results::DevicesChanged slots_now(const std::vector<core::Slot>& slots);

  const RunState& state() const { return state_; }
  /// Why no device is left, when none is.
  const std::string& no_usable_device() const { return fleet_.no_usable_device(); }
  /// What has changed, where the run ended for that.
  const std::string& change() const { return change_; }

 private:
  using Clock = std::chrono::steady_clock;

  /// Into the journal's next group, and into the state.
  void apply(const results::Event& event);
  /// Makes what was applied durable; then the files and the observer follow.
  void publish(const std::vector<results::Event>& events);
  /// Follows the run's `devices` file.
  void follow_devices();
  void change_devices(const DeviceRequest& request);
  /// The slots as their devices are numbered now.
  void choose_anew();
  devices::Choice choice_of(const std::string& spec, bool renumbered) const;
  void remember_devices();
  /// Why nothing can be started any more.
  std::optional<RunEnd> blocked() const;
  /// A group of trials, as many as there are slots for, or the first of them; false: none.
  bool start_trials();
  void choose_starts();
  /// Starts workers on the other slots, once, while the first trial's is not ready.
  void warm_up();
  /// Starts what tells whether trials that stand back failed, or what surrounds them.
  void probe_surroundings();
  /// Makes the chosen starts durable, all at once, and hands them over; false: there are none.
  bool hand_over();
  /// Breeds the children that slots will need next, if few are ready; false: it has not.
  bool breed_ahead();
  /// The attempts that no worker of this process is at, without those that stand back.
  std::vector<const Attempt*> waiting();
  /// Another training is to show first that it was the trial that failed, or what surrounds it.
  bool stands_back(const Attempt& attempt);
  void start_waiting(const std::vector<const Attempt*>& attempts);
  void start(const Attempt& attempt, core::Lease lease);
  bool begins_anew(const Attempt& attempt) const;
  results::Event start_of(const Attempt& attempt, const std::string& device, int start_epoch) const;
  std::vector<int> rungs_for(const hyp::Trial& trial) const;
  /// Whether its trials can be paused, where that matters; nothing: it is not known yet.
  std::optional<bool> can_pause() const;
  bool ran_past_its_pause(const hyp::Trial& trial, const workers::Trained& trained) const;
  void cannot_pause();
  hyp::Decision decision(const hyp::Rung& rung) const;
  void take(const std::vector<workers::WorkerEvent>& news);
  void probed(const workers::WorkerEvent& end);
  /// The failures of held trials that turned out to be their own.
  void record_cleared();
  results::Event event_of(const workers::AtRung& rung) const;
  results::Event event_of(const workers::Trained& trained) const;
  results::Event event_of(const workers::NotTrained& failure) const;
  /// What is the same of a training however it ended: a Trained or a NotTrained.
  template <class Ended>
  hyp::Outcome outcome(const Ended& ended) const;
  void ended(const hyp::Outcome& outcome, const std::vector<std::string>& failed_on);
  void back_off_after(const hyp::Outcome& outcome);
  double seconds_taken() const;
  /// Ends the search for the repeats when it is time, or tells it that it will end.
  void follow_time_limit();
  void look_for_change();
  void close();

  const Settings settings_;
  /// Those of now: its `devices` file may have changed them.
  std::vector<core::Slot> slots_;
  /// Absolute: workers may run elsewhere.
  std::filesystem::path root_;
  results::Journal journal_;
  RunState state_;
  RunFiles files_;
  LiveReport report_;
  std::optional<DeviceFile> device_file_;
  /// Those that this process has, or had, by their names: a line `take` of its file may stay there,
  /// and one that was taken out comes back as it was.
  std::map<std::string, core::Slot> had_;
  Observer& observer_;
  hyp::Fitness fitness_;
  const core::StopSource& stop_;
  workers::WorkerSet workers_;
  Fleet fleet_;
  /// Chosen and in the state, and not handed over yet.
  struct Start {
    results::Event event;
    workers::Assignment assignment;
    core::Lease lease;
  };
  std::vector<Start> starts_;
  /// The trial that is trained once more to see whose fault failures are, and whether the last such
  /// training failed.
  std::optional<int> probe_;
  bool probe_failed_ = false;
  /// What has changed of the files that all trials begin with, and when they were looked at.
  std::string change_;
  Clock::time_point looked_{};
  Clock::time_point shown_{};
  bool warmed_up_ = false;
  /// The trials that this process trains, or repeats of them.
  std::set<int> under_way_;
  /// Trials that were open when an earlier process ended, and have not been started again.
  std::set<int> left_over_;
  /// Failures of the surroundings in a row that an earlier process has seen.
  int earlier_failures_, earlier_without_success_;
  /// Nothing is started before: the surroundings have failed.
  Clock::time_point not_before_{};
  TimeLimit time_limit_;
  Clock::time_point began_ = Clock::now();
};

/// A new run in `directory`. Throws `Error` when the folder holds a run already, and where there is
/// no trainer, no slot, or settings of the search are wrong.
std::unique_ptr<Run> begin_run(const Settings& settings, const results::RunDirectory& directory,
                               const core::StopSource& stop, Observer& observer);

/// A run to go on with, where its `state`, the fold of `journal`, has it; with other bounds if
/// there are any.
std::unique_ptr<Run> resume_run(const Settings& settings, const results::RunDirectory& directory,
                                results::Journal journal, RunState state,
                                const std::optional<results::Extended>& bounds,
                                const core::StopSource& stop, Observer& observer);

}  // namespace evolve::engine

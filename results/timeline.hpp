// What happened when: the trials, the trainings that slots have done for them, and how devices
// were. A fold of a run's events, for those who look at the run.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/time.hpp"
#include "results/event.hpp"
#include "results/journal.hpp"

namespace evolve::results {

struct Timeline {
  /// `waiting`: it failed, or the run ended while it was under way, and will be tried again.
  /// `interrupted`, of trainings only: the run ended while it was under way.
  enum class State { running, waiting, paused, completed, stopped, failed, interrupted };

  /// A trial as it stands, without its repeats.
  struct Trial {
    int generation = 0;
    State state = State::running;
    /// Of the latest training.
    std::string device = {};
    /// The last epoch that is known of, from 1; 0: none.
    int epoch = 0;
    /// Of all its trainings that have ended.
    double seconds = 0;
    /// The metrics at `epoch`; of a trial that failed those before.
    std::optional<hyp::Metrics> metrics = {};
    /// Epochs, ascending, and the fitness after them.
    std::vector<std::pair<int, double>> curve = {};
  };

  /// What a slot has done for a trial without a break.
  struct Training {
    int trial = 0;
    int repeat = 0;
    std::string device = {};
    int start_epoch = 0;
    /// The last epoch that is known of.
    int end_epoch = 0;
    State state = State::running;
    /// It begins later where the machine slept for ten minutes or more while it was under way.
    core::Time begin = {}, end = {};
    /// 0: it has not ended.
    double seconds = 0;
  };

  /// Of the whole training of a trial.
  int epochs = 1;
  /// By number.
  std::map<int, Trial> trials = {};
  /// In the order in which they began.
  std::vector<Training> trainings = {};
  /// The places among them of those that have ended, in the order in which they did.
  std::vector<std::size_t> ended = {};
  /// Every failed attempt, of repeats too; final where that was said of it later.
  std::vector<std::pair<core::Time, hyp::Outcome>> failures = {};
  std::vector<std::pair<core::Time, DeviceStats>> samples = {};
  /// When a trial that had succeeded was trained once more, to see whose fault failures are.
  std::vector<std::pair<core::Time, core::Time>> probes = {};
  /// Blames, quarantines and their ends.
  std::vector<std::pair<core::Time, Event>> device_events = {};
  /// The slots that the run has now; nothing: those that it began with.
  std::optional<std::vector<std::string>> slots = {};
  /// Devices that get no trials.
  std::set<std::string> quarantined = {};
  /// When the first and the latest event that has a time happened; see go_on(). Where the clock was
  /// set back, all times here go on from there as if it had not been.
  core::Time begin = {}, end = {};
  /// When the latest event that has a time happened, by the clock as it was then.
  core::Time latest = {};

  /// `time`: when it happened; the epoch where that is not known.
  void add(const Event& event, core::Time time);
  /// A process is at work on the run now: what is under way goes on until then.
  void go_on(core::Time now);
  /// No process is at work on the run now: what was under way ended with the latest event, and the
  /// trials wait.
  void stop();

 private:
  void on(const Started& started, core::Time time);
  void on(const Repeating& repeating, core::Time time);
  void on(const hyp::Rung& rung, core::Time time);
  void on(const hyp::Outcome& outcome, core::Time time);
  void on(const DeviceStats& stats, core::Time time) { samples.emplace_back(time, stats); }
  void on(const DeviceBlamed& blame, core::Time time) {
    device_events.emplace_back(time, blame);
    if (blame.quarantined) quarantined.insert(blame.device);
  }
  void on(const DeviceBroughtBack& back, core::Time time) {
    device_events.emplace_back(time, back);
    quarantined.erase(back.device);
  }
  void on(const Probed& probed, core::Time time);
  void on(const DevicesChanged& changed, core::Time) { slots = changed.slots; }
  void on(const auto&, core::Time) {}

  void start(Training training);
  /// `died`: when its process was last seen at work.
  void interrupt(int again, core::Time died);
  /// When a process was last seen at work that may have died by then: a training began, said
  /// something or ended, or a device was sampled, longer ago than the next process does that before
  /// it starts anything.
  core::Time last_sign_before(core::Time time) const;

  /// A training that has not ended: its place, and the last sign of a process before it.
  struct Running {
    std::size_t place = 0;
    core::Time before = {};
  };
  /// By trial.
  std::map<int, Running> running_ = {};
  /// When a training last began, said something or ended.
  core::Time trained_ = {};
  /// By how much the clock has been set back.
  core::Time::duration set_back_ = {};
};

/// The timeline of what a journal has.
Timeline timeline_of(const JournalContents& contents);

/// "running", "waiting", …
const std::string& name_of(Timeline::State state);

}  // namespace evolve::results

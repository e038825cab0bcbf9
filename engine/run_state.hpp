// The state of a run: the fold of its events.
//
//     journal.append(event); state.apply(event);
//
// is the only way in which it changes. (next_trial() and breed() only work ahead: what they bred is
// the same if it is bred again, and counts once its event is applied.) The running engine does just
// that; resuming a run, explaining and reporting it fold the journal's events into the same state.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "engine/repeats.hpp"
#include "engine/surroundings.hpp"
#include "ga/epochs/early_stopping.hpp"
#include "ga/evolution.hpp"
#include "results/event.hpp"
#include "results/run_settings.hpp"

namespace evolve::engine {

/// A try at a trial or at a repeat of it.
struct Attempt {
  hyp::Trial trial;
  /// From 1; one more than the failures that were the trial's.
  int number = 1;
  /// The trial was paused, and is trained from the beginning all the same.
  bool anew = false;
  /// The devices where earlier attempts failed, the last one last.
  std::vector<std::string> failed_on = {};

  /// The epoch from which on it trains.
  int start_epoch() const { return anew ? 0 : trial.start_epoch; }
};

/// The trial whose set is recommended.
struct Recommendation {
  /// Its place in `RunState::completed`.
  std::size_t row = 0;
  /// What the model says; nothing where there is none: then it is the first of greatest fitness.
  std::optional<ga::Standing> standing = {};
};

class RunState {
 public:
  /// The first `trusted` trials that were bred, or went on, are taken as their events have them,
  /// and in a search with a lag all that did so after a repeat; the others are asked for, and must
  /// come out as recorded. `journal` is what errors name. Throws `Error` for settings that make no
  /// sense.
  explicit RunState(const results::RunSettings& settings, std::string journal = "",
                    int trusted = 0);

  /// Throws `Error` when a trial is bred differently from what is recorded (an operator has changed
  /// since), when a set lies outside the space, or when the event contradicts those before.
  void apply(const results::Event& event);

  /// The next new trial, and after the search the next repeat of one, to be started before anything
  /// else happens; nothing when all have been handed out or (with a lag) until more have ended. The
  /// same one until it has started.
  const hyp::Trial* next_trial();
  /// Trials that were bred ahead, and have not started.
  int ready() const { return static_cast<int>(std::ssize(ready_)); }
  /// The next new trials, `most` at the most, bred from what is known now: to be recorded before
  /// anything else happens, and then ready. Nothing where trainings are paused (what goes on is
  /// decided when a device is free), or when none can be asked for.
  std::optional<results::Bred> breed(int most);
  /// Whether next_trial() may have one; costs nothing.
  bool may_have_next_trial() const;
  /// The attempts at trials and repeats that have started and not ended, whether they are under way
  /// in a process or wait for one. They stay where they are until an outcome is applied.
  std::vector<const Attempt*> open() const;
  /// The trial failed for want of its data, says the trainer, and nobody else could look: it waits
  /// until a trial that started later is trained (see `cleared`).
  bool held(int trial) const;
  /// The held trials that have waited for long enough: the surroundings are in order, so it was the
  /// trial. Their last failures once more, now final; no time and no epochs are in that.
  std::vector<hyp::Outcome> cleared() const;
  /// The open attempt at a trial or at its repeat. Throws std::out_of_range when there is none.
  const Attempt& attempt_at(int trial) const { return open_.at(trial).attempt; }
  /// How often the trial has lost its device.
  int device_losses(int trial) const;
  /// What surrounds the trial has failed it at work, as far as can be told, and nothing that
  /// started later has been trained since: another training tells whether it was not the trial.
  /// (That data are missing is seen otherwise.)
  bool in_doubt(int trial) const;
  /// The last epoch that the trial's last failed attempt has reported; 0: none.
  int failed_at(int trial) const;

  /// The last failure of a trial under way, if one that started later has been trained since.
  const hyp::Failed* outlived_failure(int trial) const;
  /// Whether the last attempt at the trial, which is open, failed once it had come to its pause.
  bool failed_at_pause(int trial) const;
  /// Three trials have failed for good where they were told to pause, for no reason that a set may
  /// give, and none has ever been paused, or is about to: it is not the trials that cannot. Never
  /// in a search with a lag above 1, where that might be known sooner or later.
  bool pauses_fail() const;
  /// Nothing is left to be trained.
  bool finished() const;
  /// The completed trials, in that order.
  const std::vector<CompletedTrial>& completed() const { return completed_; }
  /// The place in completed() of a trial that has completed.
  std::size_t row_of(int trial) const;
  /// The numbers of the trials that ended, in that order.
  const std::vector<int>& ended() const { return ended_; }
  /// The trial of greatest fitness in the search; null: none has completed.
  const CompletedTrial* best() const { return completed_.empty() ? nullptr : &completed_[best_]; }
  /// Which trial to use; nothing: none has completed. Not for two threads at a time: see
  /// ga::Evolution::standing().
  std::optional<Recommendation> recommendation() const;
  /// The trials that are paused, and how they were when they were.
  const std::map<int, hyp::Paused>& paused() const { return paused_; }
  /// What a trial that goes on took until it was paused, in all.
  std::chrono::milliseconds time_before(const hyp::Trial& trial) const;
  /// How many trials have gone on after a pause.
  int gone_on() const { return static_cast<int>(gone_on_.size()); }
  /// Epochs that were trained in all, as far as the journal has them: of every attempt, of repeats
  /// too.
  std::int64_t epochs_trained() const { return epochs_trained_; }
  /// Trainings as --trials counts them: the trials that were asked for, and all repeats.
  int trainings() const { return evolution_.asked() + repeats_.in_all(); }
  /// The bounds of the whole run, repeats included; where its time limit has ended its search for
  /// them (results::Extended), those that it had before.
  ga::Settings bounds() const { return bounds_before_.value_or(present_bounds()); }
  /// Its time limit has ended its search, for the repeats.
  bool ended_for_repeats() const { return bounds_before_.has_value(); }
  /// With --max-epochs: how many epochs there may be, those of repeats among them.
  std::optional<std::int64_t> most_epochs() const;
  /// How many epochs an attempt may lose, and be made again: those that nothing else is promised.
  std::int64_t epochs_to_spare(const Attempt& attempt) const;
  /// What a whole training has taken of a device's time so far, by the epochs trained; 0: none was.
  double training_seconds() const;
  /// The fitness of trial 0, if it completed.
  const std::optional<double>& start_fitness() const { return start_fitness_; }
  /// The first trial that failed for good.
  const std::optional<hyp::Failed>& first_failure() const { return first_failure_; }
  /// The highest generation of the trials that were started.
  int generation() const { return generation_; }
  const Surroundings& surroundings() const { return surroundings_; }
  /// Trials at a time, for devices whose memory was seen to be too small for more.
  const std::map<std::string, int>& trial_limits() const { return trial_limits_; }
  /// Names that mean other devices there than they did last, as far as drivers tell, and which
  /// these were: the UUID, or else the PCI address.
  std::map<std::string, std::string> other_devices_on(const results::DevicesChanged& now) const;
  /// Those that hold on these slots: what a card had no memory for says nothing of another one that
  /// has its name now.
  std::map<std::string, int> trial_limits_on(const results::DevicesChanged& now) const;
  /// The slots that it has, or had when it ended.
  const results::DevicesChanged& devices() const { return devices_; }
  /// No trial has ended, or has a fitness at a rung.
  bool nothing_known() const { return nothing_known_; }
  /// What the run's trials train on: see RunSettings::inputs.
  const nlohmann::ordered_json& inputs() const { return inputs_; }
  /// What the drivers said last, by device.
  const std::map<std::string, results::DeviceStats>& device_stats() const { return device_stats_; }

  const ga::Evolution& evolution() const { return evolution_; }
  const ga::EarlyStopping& early_stopping() const { return early_stopping_; }
  const Repeats& repeats() const { return repeats_; }
  /// How many repeats have ended, whatever came of them; those before the run was extended too.
  int repeats_ended() const;

 private:
  /// A trial, or a repeat of it, that was started and has not ended.
  struct Open {
    Attempt attempt;
    bool held = false;
    int device_losses = 0;
    /// Positions among the events.
    std::int64_t started = 0, failed = 0;
    hyp::Outcome failure = {};

    /// The epochs that it had come to when it failed last; 0 where it has not.
    int failed_at() const { return failed > 0 ? std::get<hyp::Failed>(failure.result).epoch : 0; }
    bool failed_at_pause() const { return at_pause(attempt.trial, failed_at()); }
    void start_again(std::int64_t event) {
      held = false;
      started = event;
    }
  };

  void on(const results::Started& started);
  void on(const results::Bred& bred);
  void on(const results::Repeating& repeating);
  void on(const hyp::Rung& rung);
  void on(const hyp::Outcome& outcome);
  void on(const results::Extended& extended);
  void on(const results::Expected& expected) { evolution_.expect(expected.trainings); }
  void on(const results::CannotPause&) { evolution_.cannot_pause(); }
  void on(const results::Probed&);
  void on(const results::DeviceStats& stats) { device_stats_[stats.device] = stats; }
  void on(const results::DeviceLimited& limited) { trial_limits_[limited.device] = limited.trials; }
  void on(const results::DeviceFull&) {}
  void on(const results::DeviceBlamed&) {}
  void on(const results::DeviceBroughtBack&) {}
  void on(const results::DevicesChanged& changed);
  void on(const results::InputsMended& mended) { inputs_ = mended.inputs; }
  void on(const results::UnknownEvent&) {}

  void begin(const results::Started& started);
  hyp::Trial take_next(const results::Started& started);
  /// A journal's trials up to that many are taken as they are recorded.
  bool trusts(int trials) const;
  std::optional<hyp::Trial> ask(const results::Started& started);
  Error bred_differently(int trial) const;
  void count_epochs(const hyp::Outcome& outcome, int start_epoch);
  /// Whether it has come to its pause with a fitness, without which it is not told to.
  bool told_to_pause(const hyp::Trial& trial) const;
  void repeat_ended(const hyp::Outcome& outcome, const hyp::Trial& repeat);
  std::optional<hyp::Trial> next_repeat() const;
  ga::Settings present_bounds() const;
  void completed(int trial, const hyp::Completed& result);
  void failed(const hyp::Outcome& outcome, const hyp::Failed& failure, Open& open);
  /// Null when it is not under way.
  const Open* find_open(int trial) const;
  /// Another training has shown since it failed that its surroundings let one end so.
  bool was_outlived(const Open& open) const;
  /// Throws `Error` when it is not.
  Open& open_trial(int trial);
  Error contradiction(int trial, const std::string& what,
                      const std::string& way_out = "start a new run") const;

  std::string journal_;
  int trusted_;
  int epochs_;
  std::string fitness_;  // the formula
  ga::Evolution evolution_;
  ga::EarlyStopping early_stopping_;
  Repeats repeats_;
  std::optional<ga::Settings> bounds_before_;
  /// Bred for a device that waits, and not started yet.
  std::optional<hyp::Trial> next_;
  /// Bred ahead: not recorded yet, and ready.
  std::vector<hyp::Trial> bred_;
  std::deque<hyp::Trial> ready_;
  std::map<int, Open> open_;
  std::vector<CompletedTrial> completed_;
  std::vector<int> ended_;
  std::map<int, hyp::Paused> paused_;
  std::map<int, double> seconds_before_;  // of trials that were paused
  /// Trials and continuations that were asked for.
  int asked_ = 0;
  std::set<int> gone_on_;
  /// Trials that failed for good where they were told to pause.
  int failed_pauses_ = 0;
  std::int64_t epochs_trained_ = 0;
  double seconds_trained_ = 0;
  /// Where the evolution's best trial stands among them.
  std::size_t best_ = 0;
  std::optional<double> start_fitness_;
  std::optional<hyp::Failed> first_failure_;
  results::DevicesChanged devices_;
  nlohmann::ordered_json inputs_;
  bool nothing_known_ = true;
  int generation_ = 0;
  Surroundings surroundings_;
  std::map<std::string, int> trial_limits_;
  std::map<std::string, std::string> identities_;
  std::map<std::string, results::DeviceStats> device_stats_;
  std::int64_t events_ = 0;
};

}  // namespace evolve::engine

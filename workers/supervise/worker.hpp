// One worker of a run, and the trial that it is at.
#pragma once

#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "core/slot.hpp"
#include "workers/protocol/messages.hpp"
#include "workers/supervise/supervised_process.hpp"
#include "workers/supervise/worker_set.hpp"

namespace evolve::workers {

/// What is said of a trial whose device is taken out of the run.
constexpr const char* taken_away = "it was taken away";

/// Serves one trial after the other until anything fails.
class Worker {
 public:
  /// What happens to a trial; with its end comes the lease, else none.
  using Report = std::function<void(WorkerEvent, core::Lease)>;
  /// What to do with a trial that the process ended without having begun, as far as one can see.
  using HandBack = std::function<void(Assignment, core::Lease)>;

  /// Starts the process; throws std::system_error when it cannot be executed. `settings` and
  /// `supervisor` must outlive the worker.
  Worker(Supervisor& supervisor, const WorkerSettings& settings, const core::Slot& slot,
         Report report, HandBack hand_back);

  /// Gives an idle worker its next trial, whose log is opened.
  void start(Assignment assignment, core::Lease lease);
  /// The decision about its trial, which waits at a rung.
  void decide(hyp::Decision decision);

  /// Ends the process; a trial under way fails as on a device that is lost.
  void take_away();

  /// The slot as it was when the process was started.
  const core::Slot& slot() const { return slot_; }
  bool idle() const { return !assignment_ && process_.sound(); }
  /// The process has exited: nothing more will come from this worker.
  bool gone() const { return process_.gone(); }
  bool busy() const { return assignment_.has_value(); }
  bool waits_at_rung(int trial) const {
    return at_rung_ && assignment_ && assignment_->order.trial == trial && process_.sound();
  }
  /// The worker has trained an epoch or a whole trial.
  bool grown() const { return grown_; }
  /// Whether the worker may be told to pause; nothing until it is ready.
  const std::optional<bool>& can_pause() const { return can_pause_; }
  std::optional<Progress> progress() const;

 private:
  Sense receive(std::string_view line);
  void on(const Ready& message);
  void on(const Alive& message);
  void on(const Epoch& message);
  void on(const Result& message);
  void on(const Failure& message);
  void on(const Output& message) { is_its_trial(message.trial); }
  /// False, after a protocol failure, when it is not the trial that it was given.
  bool is_its_trial(int trial);
  bool names_its_trial() const;
  void fail_wrong_trial(int trial);
  void log(std::string_view bytes);
  Error log_failed(int error) const;
  void failed(const Ending& ending);
  void end(WorkerEvent event);

  const WorkerSettings& settings_;
  core::Slot slot_;
  Report report_;
  HandBack hand_back_;
  std::optional<Assignment> assignment_;
  /// What it was given before: a sign of life may be late.
  std::optional<int> previous_trial_;
  bool taken_away_ = false;
  core::Lease lease_;
  /// The trial that its last line was about.
  std::optional<int> last_named_;
  /// The furthest that it has reported, and the last one.
  int epoch_ = 0, last_reported_ = 0;
  /// It waits for a decision, and where it did so last.
  bool at_rung_ = false;
  int rung_ = 0;
  hyp::Metrics rung_metrics_;
  /// What it was told at its last rung.
  hyp::Decision decision_ = hyp::Decision::go_on;
  std::optional<bool> can_pause_;  // that its process has told
  core::DeviceIdentity identity_;  // the same
  bool grown_ = false;
  hyp::Metrics metrics_;
  /// What it said last that it does before it trains.
  std::string preparing_;
  std::ofstream log_;
  std::string log_path_;
  /// Of standard error, before there was a trial with a log.
  std::string first_words_;
  std::size_t logged_ = 0;
  SupervisedProcess process_;
};

}  // namespace evolve::workers

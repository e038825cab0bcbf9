#include "workers/supervise/worker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/durable_file.hpp"
#include "core/shell_word.hpp"
#include "core/utf8.hpp"
#include "hyp/trial_folder.hpp"
#include "workers/protocol/text.hpp"

namespace evolve::workers {

using hyp::FailureKind;

namespace {

/// Of one attempt: a trainer that never stops printing would fill the disk for all of them.
constexpr std::size_t longest_log = std::size_t{256} << 20;
/// Of what a process says before it has a trial.
constexpr std::size_t longest_first_words = std::size_t{1} << 20;
/// Of what a trainer says that it prepares, which stands in the live line.
constexpr std::size_t longest_preparing = 40;

std::vector<std::string> launched(const std::vector<std::string>& command, const core::Slot& slot) {
  auto words = slot.launcher;
  for (const auto& word : command)
    words.push_back(slot.remote_shell ? core::shell_word(word) : word);
  return words;
}

/// The folder of a trial, below that of its run, which is not made: where it is gone (somebody has
/// renamed what it lies in), another run may begin in its place.
void make_trial_folder(const std::string& folder, std::error_code& failed) {
  namespace fs = std::filesystem;
  fs::path made = hyp::run_of_trial(folder);
  for (const auto& name : fs::path(folder).lexically_relative(made)) {
    made /= name;
    fs::create_directory(made, failed);
    if (failed) return;
  }
}

}  // namespace

Worker::Worker(Supervisor& supervisor, const WorkerSettings& settings, const core::Slot& slot,
               Report report, HandBack hand_back)
    : settings_(settings),
      slot_(slot),
      report_(std::move(report)),
      hand_back_(std::move(hand_back)),
      process_(supervisor, launched(settings.command, slot), slot,
               {.line = [this](std::string_view line) { return receive(line); },
                .log = [this](std::string_view bytes) { log(bytes); },
                .gone = [this](const Ending& ending) { failed(ending); }}) {}

void Worker::start(Assignment assignment, core::Lease lease) {
  assignment_ = std::move(assignment);
  assignment_->order.device = slot_.name;
  lease_ = std::move(lease);
  epoch_ = last_reported_ = assignment_->order.start_epoch;
  last_named_.reset();
  at_rung_ = false;
  decision_ = hyp::Decision::go_on;
  metrics_ = {};
  preparing_.clear();
  const auto& folder = assignment_->order.dir;
  std::error_code failed;
  make_trial_folder(folder, failed);
  log_path_ = folder + "/" + hyp::log_file;
  if (failed) throw log_failed(failed.value());
  log_.close();
  log_.clear();
  log_.open(log_path_, std::ios::app);
  logged_ = 0;
  if (!log_) throw log_failed(errno);
  log(std::exchange(first_words_, {}));
  process_.assign(line_of(FromEngine(assignment_->order)), {.hang = settings_.hang_timeout,
                                                            .in_all = settings_.trial_timeout,
                                                            .before = assignment_->before});
}

void Worker::decide(hyp::Decision decision) {
  at_rung_ = false;
  decision_ = decision;
  const int trial = assignment_->order.trial;
  process_.send(line_of(decision == hyp::Decision::stop    ? FromEngine(Stop{trial})
                        : decision == hyp::Decision::pause ? FromEngine(Pause{trial})
                                                           : FromEngine(Continue{trial})));
}

void Worker::take_away() {
  // What it ends of else is the trial's.
  taken_away_ = process_.fail(FailureKind::device_lost, taken_away) || taken_away_;
}

std::optional<Progress> Worker::progress() const {
  if (!assignment_) return {};
  return Progress{.trial = assignment_->order.trial,
                  .device = slot_.name,
                  .epoch = epoch_,
                  .epochs = assignment_->order.epochs,
                  .metrics = metrics_,
                  .start_epoch = assignment_->order.start_epoch,
                  .preparing = preparing_};
}

Sense Worker::receive(std::string_view line) try {
  const auto message = parse_from_worker(line);
  if (!message) return Sense::none;
  std::visit([this](const auto& m) { on(m); }, *message);
  const auto* alive = std::get_if<Alive>(&*message);
  const bool is_late = alive && alive->trial && alive->trial == previous_trial_ && assignment_ &&
                       alive->trial != assignment_->order.trial;
  return is_late ? Sense::of_earlier_work : Sense::some;
} catch (const std::invalid_argument&) {
  const auto heading = heading_of(line);
  last_named_ = heading.trial;
  // A whole training is behind a result that cannot be used.
  if (names_its_trial() && heading.type == Result::type && decision_ == hyp::Decision::go_on)
    epoch_ = assignment_->order.epochs;
  throw;
}

void Worker::on(const Ready& message) {
  can_pause_ = message.can_pause;
  // A later one that does not tell takes nothing back.
  if (message.identity != core::DeviceIdentity())
    identity_ = {core::excerpt(message.identity.uuid), core::excerpt(message.identity.pci)};
  process_.on(message);
}

void Worker::on(const Alive& message) {
  const bool known = !message.trial || message.trial == previous_trial_ ||
                     (assignment_ && message.trial == assignment_->order.trial);
  if (!known) return fail_wrong_trial(*message.trial);
  const bool has_begun = !assignment_ || message.trial != assignment_->order.trial ||
                         epoch_ > assignment_->order.start_epoch;
  preparing_ = has_begun ? "" : core::excerpt(message.preparing, longest_preparing);
  process_.on(Alive{.trial = message.trial, .preparing = preparing_});
}

void Worker::on(const Epoch& message) {
  if (!is_its_trial(message.trial)) return;
  // It would use up the run's epochs, and no rung that follows would be a new one.
  if (message.epoch < 1 || message.epoch > assignment_->order.epochs)
    return void(process_.fail(FailureKind::protocol,
                              fmt::format("it reports epoch {}, epochs are counted from 1 to {}",
                                          message.epoch, assignment_->order.epochs)));
  grown_ = true;
  preparing_.clear();
  // The same one again is a sign of life; an earlier one is of a training that begins anew.
  const bool is_new = message.epoch > epoch_;
  const bool is_again = message.epoch == std::exchange(last_reported_, message.epoch);
  epoch_ = std::max(message.epoch, epoch_);
  metrics_ = message.metrics;
  if (is_again || std::ranges::count(assignment_->order.rungs, message.epoch) == 0) return;
  // What it had there was decided upon, but it waits.
  if (!is_new) return decide(hyp::Decision::go_on);
  at_rung_ = true;
  rung_ = epoch_;
  rung_metrics_ = metrics_;
  report_(AtRung{.trial = message.trial,
                 .epoch = epoch_,
                 .metrics = metrics_,
                 .device = slot_.name,
                 .can_pause = can_pause_.value_or(false)},
          nullptr);
}

void Worker::on(const Result& message) {
  if (!is_its_trial(message.trial)) return;
  grown_ = true;
  // A trainer may have stopped for reasons of its own: that is its result.
  const bool stopped = message.stopped && decision_ == hyp::Decision::stop;
  const bool paused = message.paused && decision_ == hyp::Decision::pause;
  const bool obeyed = stopped || paused;
  end(Trained{.trial = message.trial,
              // Where it has trained on before it paused, those of the result are of another epoch.
              .metrics = paused && epoch_ > rung_ ? rung_metrics_ : message.metrics,
              .obeyed = obeyed ? decision_ : hyp::Decision::go_on,
              .epoch = stopped  ? epoch_
                       : paused ? rung_
                                : assignment_->order.epochs,
              .reported = epoch_,
              .device = slot_.name,
              .seconds = process_.seconds(),
              .prepared = process_.prepared(),
              .identity = identity_});
}

void Worker::on(const Failure& message) {
  if (message.trial && !is_its_trial(*message.trial)) return;
  if (message.message.find('\n') != std::string::npos) log(message.message + '\n');
  // Of a traceback the reason comes last.
  const bool is_traceback = message.message.starts_with("Traceback (most recent call last):");
  const auto reason =
      is_traceback ? last_line(message.message) : core::excerpt(message.message, 1000);
  process_.fail(message.kind, reason.empty() ? "its trainer gave no reason" : reason);
}

bool Worker::is_its_trial(int trial) {
  last_named_ = trial;
  const bool its_own = names_its_trial() && process_.at_work();
  if (!its_own) fail_wrong_trial(trial);
  return its_own;
}

bool Worker::names_its_trial() const {
  return assignment_ && last_named_ == assignment_->order.trial;
}

void Worker::fail_wrong_trial(int trial) {
  last_named_ = trial;
  const bool its_own = names_its_trial();
  process_.fail(FailureKind::protocol,
                fmt::format("it speaks of trial {}{}", trial,
                            its_own                    ? " before it is ready"
                            : trial == previous_trial_ ? ", which has ended"
                                                       : ", which it was not given"));
}

void Worker::log(std::string_view bytes) {
  if (!log_.is_open()) {
    if (first_words_.size() < longest_first_words) first_words_ += bytes;
    return;
  }
  if (logged_ > longest_log) return;
  logged_ += bytes.size();
  log_ << bytes;
  if (logged_ > longest_log)
    log_ << fmt::format("\nevolve: what follows is left out, after {} MiB\n", longest_log >> 20);
  log_ << std::flush;
  if (!log_) throw log_failed(errno);
}

Error Worker::log_failed(int error) const {
  return core::run_cannot_write(log_path_, error, hyp::run_of_trial(log_path_));
}

void Worker::failed(const Ending& ending) {
  if (!assignment_) return;
  const bool is_late = last_named_ && last_named_ == previous_trial_ && !names_its_trial();
  if (ending.between_work || (ending.maybe_between_work && is_late)) {
    log(fmt::format("evolve: another process takes this trial, the last one had ended: {}\n",
                    ending.message));
    return hand_back_(*std::exchange(assignment_, std::nullopt), std::move(lease_));
  }
  const int reported = epoch_ > assignment_->order.start_epoch ? epoch_ : 0;
  end(NotTrained{.trial = assignment_->order.trial,
                 .kind = ending.kind,
                 .message = ending.message,
                 .failed_before_ready = ending.failed_before_ready,
                 .excused = taken_away_ || (ending.maybe_between_work && !names_its_trial()),
                 .device = slot_.name,
                 .seconds = process_.seconds(),
                 .prepared = process_.prepared(),
                 .epoch = reported,
                 .identity = identity_});
}

void Worker::end(WorkerEvent event) {
  process_.rest();
  previous_trial_ = assignment_->order.trial;
  assignment_.reset();
  at_rung_ = false;
  report_(std::move(event), std::move(lease_));
}

}  // namespace evolve::workers

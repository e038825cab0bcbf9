#include "workers/supervise/worker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "hyp/trial_folder.hpp"
#include "workers/protocol/text.hpp"

namespace evolve::workers {

using hyp::FailureKind;

namespace {

std::vector<std::string> launched(const std::vector<std::string>& command, const core::Slot& slot) {
  auto words = slot.launcher;
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

}  // namespace

Worker::Worker(Supervisor& supervisor, const WorkerSettings& settings, const core::Slot& slot,
               std::function<void(Ended)> ended)
    : settings_(settings),
      slot_(slot.name),
      ended_(std::move(ended)),
      process_(supervisor, launched(settings.command, slot), slot,
               {.line = [this](std::string_view line) { hear(line); },
                .log = [this](std::string_view bytes) { log(bytes); },
                .gone = [this](const hyp::Failed& failure) { failed(failure); }}) {}

void Worker::start(Assignment assignment) {
  assignment_ = std::move(assignment);
  epoch_ = 0;
  metrics_ = {};
  const auto& trial = assignment_->trial;
  const auto folder =
      std::filesystem::path(settings_.directory) / hyp::trial_folder(trial.number, trial.repeat);
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  log_path_ = (folder / "log").string();
  if (failed) throw log_failed(failed.value());
  log_.close();
  log_.clear();
  log_.open(log_path_, std::ios::app);
  if (!log_) throw log_failed(errno);
  process_.assign(line_of(FromEngine(Train{.trial = trial.number,
                                           .hyp = trial.hyp,
                                           .epochs = settings_.epochs,
                                           .device = slot_,
                                           .seed = trial.seed,
                                           .dir = folder.string(),
                                           .rungs = assignment_->rungs,
                                           .options = settings_.options})),
                  {.silence = settings_.hang_timeout, .in_all = settings_.trial_timeout});
}

std::optional<Progress> Worker::progress() const {
  if (!assignment_) return {};
  return Progress{assignment_->trial.number, slot_, epoch_, settings_.epochs, metrics_};
}

void Worker::hear(std::string_view line) {
  if (const auto message = parse_from_worker(line))
    std::visit([this](const auto& m) { on(m); }, *message);
}

void Worker::on(const Epoch& message) {
  if (!speaks_of_its_trial(message.trial)) return;
  grown_ = true;
  epoch_ = message.epoch;
  metrics_ = message.metrics;
  if (std::ranges::count(assignment_->rungs, epoch_) == 0) return;
  const bool stops = settings_.stops({.trial = message.trial,
                                      .epoch = epoch_,
                                      .metrics = metrics_,
                                      .fitness = settings_.fitness(metrics_),
                                      .device = slot_});
  process_.say(
      line_of(stops ? FromEngine(Stop{message.trial}) : FromEngine(Continue{message.trial})));
}

void Worker::on(const Result& message) {
  if (!speaks_of_its_trial(message.trial)) return;
  grown_ = true;
  const double fitness = settings_.fitness(message.metrics);
  if (!std::isfinite(fitness))
    return process_.fail(FailureKind::protocol, "its fitness is not finite");
  if (message.stopped && assignment_->trial.repeat)
    return process_.fail(FailureKind::protocol, "it stopped, which nothing told it to do");
  if (message.stopped) return end(hyp::Stopped{epoch_, message.metrics, fitness});
  end(hyp::Completed{message.metrics, fitness});
}

void Worker::on(const Failure& message) {
  if (!speaks_of_its_trial(message.trial)) return;
  process_.fail(message.kind, printable(message.message, 1000));
}

bool Worker::speaks_of_its_trial(int trial) {
  const bool its_own = assignment_ && process_.at_work() && assignment_->trial.number == trial;
  if (!its_own)
    process_.fail(FailureKind::protocol,
                  fmt::format("it speaks of trial {}, which it was not given", trial));
  return its_own;
}

void Worker::log(std::string_view bytes) {
  log_ << bytes << std::flush;
  if (!log_) throw log_failed(errno);
}

Error Worker::log_failed(int error) const {
  return run_failed(log_path_ + ": cannot write (" + std::strerror(error) + ")",
                    "mend the disk, then go on with evolve --resume: all finished trials are safe");
}

void Worker::failed(hyp::Failed failure) {
  if (!assignment_) return;
  failure.log = hyp::trial_log(assignment_->trial.number, assignment_->trial.repeat);
  end(std::move(failure));
}

void Worker::end(decltype(hyp::Outcome::result) result) {
  process_.rest();
  const std::chrono::duration<double> taken = Clock::now() - assignment_->started;
  Ended ended{{.trial = assignment_->trial.number,
               .device = slot_,
               .attempt = assignment_->attempt,
               .seconds = taken.count(),
               .repeat = assignment_->trial.repeat,
               .result = std::move(result)},
              std::move(assignment_->lease)};
  assignment_.reset();
  ended_(std::move(ended));
}

}  // namespace evolve::workers

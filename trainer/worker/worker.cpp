#include "trainer/worker/worker.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <stdexcept>

#include "hyp/error.hpp"
#include "hyp/trial_folder.hpp"
#include "trainer/worker/text.hpp"

namespace evolve::worker {
namespace {

using hyp::FailureKind;

/// As much of a worker's standard error as can matter for its last line.
constexpr std::size_t last_words_kept = 4096;

std::string seconds_text(std::chrono::seconds duration) {
  return fmt::format("{} s", duration.count());
}

}  // namespace

std::string describe_ending(int status) {
  if (status == -1) return "it is gone";
  if (WIFEXITED(status)) return fmt::format("exit code {}", WEXITSTATUS(status));
  const int number = WTERMSIG(status);
  const auto* name = ::sigabbrev_np(number);
  return fmt::format("killed by signal {}{}", number, name ? fmt::format(" (SIG{})", name) : "");
}

Worker::Worker(boost::asio::io_context& io, const WorkerSettings& settings, const hyp::Slot& slot,
               std::function<void(Ended)> ended)
    : settings_(settings), slot_(slot.name), ended_(std::move(ended)) {
  process_ = Process::start(
      io, settings.command, slot,
      {.line = [this](std::string_view line) { hear(line); },
       .endless_line =
           [this] {
             fail(FailureKind::protocol,
                  fmt::format("it wrote a line of more than {} bytes", longest_line));
           },
       .log = [this](std::string_view bytes) { log(bytes); },
       .closed = [this] { broken_at_ = Clock::now(); },
       .exited = [this](int status) { exited(status); }});
}

void Worker::start(Job job) {
  job_ = std::move(job);
  sent_ = false;
  epoch_ = 0;
  metrics_ = {};
  last_words_.clear();
  heard_ = Clock::now();
  const auto folder =
      std::filesystem::path(settings_.directory) / hyp::trial_folder(job_->trial.number);
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  log_path_ = (folder / "log").string();
  log_.close();
  log_.clear();
  log_.open(log_path_, std::ios::app);
  if (!log_) throw run_failed(log_path_ + " cannot be written", "check the folder and the disk");
  if (ready_) send_trial();
}

void Worker::send_trial() {
  const auto& trial = job_->trial;
  process_->send(line_of(Train{
      .trial = trial.number,
      .hyp = trial.hyp,
      .epochs = settings_.epochs,
      .device = slot_,
      .seed = trial.seed,
      .dir =
          (std::filesystem::path(settings_.directory) / hyp::trial_folder(trial.number)).string(),
      .rungs = {},
      .options = settings_.options}));
  sent_ = true;
}

std::optional<Progress> Worker::progress() const {
  if (!job_) return {};
  return Progress{job_->trial.number, slot_, epoch_, settings_.epochs, metrics_};
}

void Worker::hear(std::string_view line) {
  if (verdict_) return;
  heard_ = Clock::now();
  std::optional<FromWorker> message;
  try {
    message = parse_from_worker(line);
  } catch (const std::invalid_argument& wrong) {
    return fail(FailureKind::protocol, wrong.what());
  }
  if (message) std::visit([this](const auto& m) { on(m); }, *message);
}

void Worker::on(const Ready& message) {
  if (message.protocol != protocol_version)
    return fail(FailureKind::protocol, fmt::format("it speaks protocol {}, evolve speaks {}",
                                                   message.protocol, protocol_version));
  if (ready_) return;
  ready_ = true;
  if (job_) send_trial();
}

void Worker::on(const Epoch& message) {
  if (!speaks_of_its_trial(message.trial)) return;
  epoch_ = message.epoch;
  metrics_ = message.metrics;
}

void Worker::on(const Result& message) {
  if (!speaks_of_its_trial(message.trial)) return;
  const double fitness = settings_.fitness(message.metrics);
  if (!std::isfinite(fitness)) return fail(FailureKind::protocol, "its fitness is not finite");
  if (message.stopped) return end(hyp::Stopped{epoch_, message.metrics, fitness});
  end(hyp::Completed{message.metrics, fitness});
}

void Worker::on(const Failure& message) {
  if (!speaks_of_its_trial(message.trial)) return;
  fail(message.kind, printable(message.message, 1000));
}

bool Worker::speaks_of_its_trial(int trial) {
  const bool its_own = job_ && sent_ && job_->trial.number == trial;
  if (!its_own)
    fail(FailureKind::protocol,
         fmt::format("it speaks of trial {}, which it was not given", trial));
  return its_own;
}

void Worker::log(std::string_view bytes) {
  log_ << bytes << std::flush;
  if (!log_) throw run_failed(log_path_ + " cannot be written", "check the disk");
  last_words_ += bytes;
  if (last_words_.size() > last_words_kept)
    last_words_.erase(0, last_words_.size() - last_words_kept);
}

void Worker::fail(FailureKind kind, const std::string& message) {
  if (verdict_) return;
  verdict_ = hyp::Failed{.kind = kind, .message = message, .log = ""};
  process_->close_input();
  process_->signal(SIGTERM);
  kill_at_ = Clock::now() + grace;
}

void Worker::exited(int status) {
  gone_ = true;
  if (!job_) return;
  if (!verdict_) {
    const auto words = last_line(last_words_);
    verdict_ = hyp::Failed{.kind = FailureKind::crash,
                           .message = describe_ending(status) + (words.empty() ? "" : ": " + words),
                           .log = ""};
  }
  verdict_->log = hyp::trial_log(job_->trial.number);
  end(*verdict_);
}

void Worker::end(decltype(hyp::Outcome::result) result) {
  const std::chrono::duration<double> taken = Clock::now() - job_->started;
  Ended ended{{.trial = job_->trial.number,
               .device = slot_,
               .attempt = job_->attempt,
               .seconds = taken.count(),
               .result = std::move(result)},
              std::move(job_->lease)};
  job_.reset();
  ended_(std::move(ended));
}

std::optional<Clock::time_point> Worker::deadline() const {
  std::optional<Clock::time_point> next;
  const auto consider = [&](std::optional<Clock::time_point> moment) {
    if (moment && (!next || *moment < *next)) next = moment;
  };
  if (gone_) return {};
  if (verdict_ || kill_at_) return kill_at_;
  if (broken_at_) consider(*broken_at_ + grace);
  if (job_) {
    consider(heard_ + settings_.hang_timeout);
    if (settings_.trial_timeout) consider(job_->started + *settings_.trial_timeout);
  }
  return next;
}

void Worker::tick(Clock::time_point now) {
  if (gone_) return;
  if (kill_at_) {
    if (now < *kill_at_) return;
    process_->signal(SIGKILL);
    kill_at_ = Clock::time_point::max();
    return;
  }
  if (broken_at_ && now >= *broken_at_ + grace)
    return fail(FailureKind::protocol, "it closed its standard input or output");
  if (!job_) return;
  if (settings_.trial_timeout && now >= job_->started + *settings_.trial_timeout)
    return fail(FailureKind::timeout,
                "not finished after " + seconds_text(*settings_.trial_timeout));
  if (now >= heard_ + settings_.hang_timeout)
    fail(FailureKind::hang, fmt::format("{} for {}", ready_ ? "silent" : "not ready",
                                        seconds_text(settings_.hang_timeout)));
}

void Worker::dismiss() {
  if (gone_) return;
  process_->send(line_of(Shutdown{}));
  process_->close_input();
  if (job_) process_->signal(SIGTERM);
}

}  // namespace evolve::worker

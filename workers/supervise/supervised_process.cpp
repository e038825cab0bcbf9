#include "workers/supervise/supervised_process.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <stdexcept>

#include "core/spawn.hpp"
#include "core/utf8.hpp"
#include "workers/protocol/text.hpp"

namespace evolve::workers {
namespace {

using hyp::FailureKind;
using std::chrono::milliseconds;

/// How long a process may take to end that has closed a stream before it was ever ready: a Python
/// that fails to import a large library takes seconds to exit, and how it exits says more.
constexpr std::chrono::seconds grace_before_ready{10};

/// A process that has sent `alive` is expected to send something at least so often.
constexpr std::chrono::seconds least_heartbeat{60};

/// As much of a worker's standard error as can matter for its last line.
constexpr std::size_t last_words_kept = 4096;

std::string seconds_text(std::chrono::seconds duration) {
  return fmt::format("{} s", duration.count());
}

/// Of a wait status or -1.
bool ended_well(int status) {
  return status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// Why the device that a worker reports cannot be one of its slot's; empty when it may be. What
/// either side does not tell contradicts nothing. `who`: "it", "rank 1".
std::string misfit(const std::string& who, const core::DeviceIdentity& told,
                   std::vector<core::DeviceIdentity> expected) {
  using Part = std::string core::DeviceIdentity::*;
  // Leaves those that fit; what the others have, where none does.
  const auto others = [&](Part part, const auto& same) {
    std::vector<std::string> all;
    for (const auto& device : expected) all.push_back(device.*part);
    std::erase_if(expected, [&](const auto& device) {
      return !(told.*part).empty() && !(device.*part).empty() && !same(told.*part, device.*part);
    });
    return expected.empty() ? fmt::format("{}", fmt::join(all, " or ")) : "";
  };
  if (const auto uuids = others(&core::DeviceIdentity::uuid, core::same_uuid); !uuids.empty())
    return fmt::format("{} has the device {}, but its slot's is {}", who, core::excerpt(told.uuid),
                       uuids);
  if (const auto pcis = others(&core::DeviceIdentity::pci, core::same_pci); !pcis.empty())
    return fmt::format("{} has the device at {}, but its slot's is at {}", who,
                       core::excerpt(told.pci), pcis);
  return {};
}

/// The same of all devices that it reports. Each rank has the slot's device in its place.
std::string misfit(const Ready& told, const std::vector<core::DeviceIdentity>& expected) {
  auto wrong = misfit("it", told.identity, expected);
  for (std::size_t i = 0; i < told.ranks.size() && i + 1 < expected.size() && wrong.empty(); ++i)
    wrong = misfit(fmt::format("rank {}", i + 1), told.ranks[i], {expected[i + 1]});
  return wrong;
}

}  // namespace

SupervisedProcess::SupervisedProcess(Supervisor& supervisor,
                                     const std::vector<std::string>& command,
                                     const core::Slot& slot, SupervisedEvents events)
    : supervisor_(supervisor), identities_(slot.identities), events_(std::move(events)) {
  process_ = Process::start(
      supervisor_.io_, command, slot,
      {.line = [this](std::string_view line) { receive(line); },
       .endless_line =
           [this] {
             fail(FailureKind::protocol,
                  fmt::format("it wrote a line of more than {} bytes", longest_line));
           },
       .log = [this](std::string_view bytes) { log(bytes); },
       .closed = [this] { broken_at_ = Clock::now(); },
       .exited = [this](int status) { exited(status); }});
  supervisor_.processes_.push_back(this);
}

SupervisedProcess::~SupervisedProcess() {
  std::erase(supervisor_.processes_, this);
}

void SupervisedProcess::assign(std::string line, const TimeLimits& limits) {
  limits_ = limits;
  assigned_ = limited_from_ = received_ = Clock::now();
  if (has_worked_) last_words_.clear();
  heard_ = false;
  unsent_ = std::move(line);
  if (ready_) begin();
}

// That it takes long to start is nothing that its work does.
void SupervisedProcess::begin() {
  assigned_ = limited_from_ = Clock::now() - limits_->before;
  process_->send(std::exchange(unsent_, {}));
}

void SupervisedProcess::on(const Alive& message) {
  has_heartbeat_ = true;
  // What all trials share, and only the first one has to prepare, is no trial's fault.
  if (at_work() && !message.preparing.empty()) limited_from_ = Clock::now() - limits_->before;
}

double SupervisedProcess::seconds() const {
  const auto before = limits_ && unsent_.empty() ? limits_->before : milliseconds(0);
  const std::chrono::duration<double> time = Clock::now() - supervisor_.away() - assigned_ - before;
  return std::max(0.0, time.count());
}

double SupervisedProcess::prepared() const {
  const std::chrono::duration<double> time = limited_from_ - assigned_;
  return std::min(time.count(), seconds());
}

void SupervisedProcess::on(const Ready& message) {
  if (message.protocol != protocol_version)
    return void(fail(FailureKind::protocol, fmt::format("it speaks protocol {}, evolve speaks {}",
                                                        message.protocol, protocol_version)));
  // A mask that did not work must not train on another's card.
  if (const auto wrong = misfit(message, identities_); !wrong.empty())
    return void(fail(FailureKind::protocol, wrong));
  ready_ = true;
  if (!unsent_.empty()) begin();
}

void SupervisedProcess::receive(std::string_view line) {
  if (ending_) return;
  received_ = Clock::now();
  const bool first_after_work = has_worked_ && !heard_;
  const bool unread = first_after_work && process_->has_unread_input();
  try {
    const auto sense = events_.line(line);
    heard_ = heard_ || sense != Sense::of_earlier_work;
    unknown_ = sense != Sense::none ? "" : core::excerpt(line);
  } catch (const std::invalid_argument& wrong) {
    heard_ = true;
    fail(FailureKind::protocol, wrong.what());
  }
  // What makes no sense now may be the last word about earlier work. Where it has read its order
  // since then nobody can tell: a new process, which has not worked, will.
  if (first_after_work && ending_ && ending_->kind == FailureKind::protocol) {
    ending_->between_work = unread;
    ending_->maybe_between_work = !unread;
  }
}

void SupervisedProcess::log(std::string_view bytes) {
  logged_ = Clock::now();
  last_words_ += bytes;
  if (last_words_.size() > last_words_kept)
    last_words_.erase(0, last_words_.size() - last_words_kept);
  events_.log(bytes);
}

bool SupervisedProcess::fail(FailureKind kind, const std::string& message) {
  if (ending_) return false;
  ending_ = Ending{.kind = kind, .message = message, .failed_before_ready = !ready_};
  process_->close_input();
  process_->signal(SIGTERM);
  kill_at_ = Clock::now() + grace;
  return true;
}

void SupervisedProcess::out_of_time(FailureKind kind, const std::string& message) {
  const bool unread = ended_between_work(/*exited_well=*/false);
  if (fail(kind, message)) ending_->maybe_between_work = unread;
}

bool SupervisedProcess::ended_between_work(bool exited_well) {
  const bool not_a_word = exited_well && last_words_.empty();
  return has_worked_ && !heard_ && (not_a_word || process_->has_unread_input());
}

void SupervisedProcess::exited(int status) {
  gone_ = true;
  if (!ending_) {
    ending_ = Ending{.kind = kind_in(last_words_, FailureKind::crash),
                     .message = (ready_ ? "" : "worker never became ready: ") +
                                core::ending_text(status) +
                                (ready_ && ended_well(status) ? " without a result" : "") +
                                words_of(status) + unknown_words(),
                     .failed_before_ready = !ready_,
                     .between_work = ended_between_work(ended_well(status))};
  }
  events_.gone(*ending_);
}

std::string SupervisedProcess::last_words() const {
  const auto words = last_line(last_words_);
  return words.empty() ? "" : ": " + words;
}

std::string SupervisedProcess::words_of(int status) const {
  const auto words = last_words();
  if (status == -1 || !WIFSIGNALED(status)) return words;
  // What kills a process so says nothing to it: its last line is about something else.
  if (WTERMSIG(status) == SIGKILL) return ": by somebody, or by the kernel for want of memory";
  return words.empty() ? "" : "; the last line before that" + words;
}

std::string SupervisedProcess::unknown_words() const {
  return unknown_.empty() ? "" : "; its last line is no message that evolve knows: " + unknown_;
}

std::optional<Clock::time_point> SupervisedProcess::broken_until() const {
  if (!broken_at_) return {};
  return *broken_at_ + (ready_ ? grace : milliseconds(grace_before_ready));
}

void SupervisedProcess::give_up() {
  gone_ = true;
  process_->abandon();
  // Whatever its work was, the device is lost.
  ending_->between_work = ending_->maybe_between_work = false;
  ending_->kind = FailureKind::device_lost;
  ending_->message += fmt::format("; it is still there {} after SIGKILL, stuck in its driver",
                                  seconds_text(last_grace));
  events_.gone(*ending_);
}

std::optional<std::chrono::seconds> SupervisedProcess::hang_limit() const {
  if (!limits_ || !limits_->hang) return {};
  return has_heartbeat_ ? std::max(*limits_->hang, least_heartbeat) : limits_->hang;
}

std::optional<Clock::time_point> SupervisedProcess::deadline() const {
  std::optional<Clock::time_point> next;
  const auto consider = [&](std::optional<Clock::time_point> moment) {
    if (moment && (!next || *moment < *next)) next = moment;
  };
  if (gone_) return {};
  if (give_up_at_) return give_up_at_;
  if (ending_ || kill_at_) return kill_at_;
  consider(broken_until());
  if (const auto limit = hang_limit()) consider(received_ + *limit);
  if (limits_ && limits_->in_all) consider(limited_from_ + *limits_->in_all);
  return next;
}

void SupervisedProcess::excuse_silence(Clock::duration time, Clock::time_point now) {
  received_ = std::min(now, received_ + time);
}

void SupervisedProcess::excuse(Clock::duration time, Clock::time_point now) {
  excuse_silence(time, now);
  // It may have been ready, or said that it prepares something, a moment ago.
  const auto latest = now - (at_work() ? limits_->before : milliseconds(0));
  assigned_ = std::min(latest, assigned_ + time);
  limited_from_ = std::min(latest, limited_from_ + time);
  for (auto* moment : {&broken_at_, &kill_at_, &give_up_at_})
    if (*moment) **moment += time;
}

void SupervisedProcess::tick(Clock::time_point now) {
  if (gone_) return;
  if (give_up_at_) {
    if (now >= *give_up_at_) give_up();
    return;
  }
  if (kill_at_) {
    if (now < *kill_at_) return;
    process_->signal(SIGKILL);
    give_up_at_ = now + last_grace;
    return;
  }
  if (const auto until = broken_until(); until && now >= *until) {
    const bool between_work = ended_between_work(/*exited_well=*/false);
    fail(FailureKind::protocol, "it closed its standard input or output" + last_words());
    ending_->between_work = between_work;
    return;
  }
  if (limits_ && limits_->in_all && now >= limited_from_ + *limits_->in_all)
    return out_of_time(FailureKind::timeout, lateness_text(*limits_->in_all));
  if (const auto limit = hang_limit(); limit && now >= received_ + *limit)
    out_of_time(FailureKind::hang, hang_text(*limit));
}

std::string SupervisedProcess::lateness_text(std::chrono::seconds in_all) const {
  if (ready_) return fmt::format("not finished after {}", seconds_text(in_all));
  return fmt::format("not ready after {}; a longer --trial-timeout allows more",
                     seconds_text(in_all));
}

std::string SupervisedProcess::hang_text(std::chrono::seconds limit) const {
  if (has_heartbeat_) return fmt::format("no sign of life for {}", seconds_text(limit));
  const auto state = fmt::format("{} for {}", ready_ ? "silent" : "not ready", seconds_text(limit));
  // Why a launcher waits is the last that it says.
  const auto why = ready_ ? "" : last_words();
  return state + why +
         (unknown_.empty() ? "; a longer --hang-timeout allows more" : unknown_words());
}

void SupervisedProcess::shut_down() {
  if (gone_) return;
  process_->send(line_of(FromEngine(Shutdown{})));
  process_->close_input();
  if (limits_) process_->signal(SIGTERM);
}

}  // namespace evolve::workers

#include "workers/supervise/supervisor.hpp"

#include <fcntl.h>
#include <signal.h>

#include <algorithm>
#include <system_error>

#include "workers/supervise/supervised_process.hpp"

namespace evolve::workers {
namespace {

using std::chrono::milliseconds;

/// The longest step.
constexpr std::chrono::seconds longest_step{1};
/// How long a step reads at most: those who never pause for breath must not keep us from the time
/// limits, nor from a request to stop.
constexpr milliseconds longest_reading{100};
/// Nobody has read for so long that much may wait to be read.
constexpr std::chrono::seconds long_absence{2};

/// What workers have at the end: first to end by themselves once their input ends (less where a
/// user waits, who asked to stop), then after SIGTERM, and after SIGKILL, slice by slice.
constexpr milliseconds shutdown_grace{2000}, stopped_grace{1000}, terminated_grace{500},
    killed_grace{5000}, killed_slice{100};

}  // namespace

Supervisor::Supervisor(const core::StopSource& stop) : stop_(stop) {
  const int descriptor = ::fcntl(stop.descriptor(), F_DUPFD_CLOEXEC, 0);
  if (descriptor < 0) throw std::system_error(errno, std::system_category(), "no descriptor");
  stop_descriptor_.assign(descriptor);
  wake_up_at_stop();
}

void Supervisor::wake_up_at_stop() {
  stop_descriptor_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                              [](const boost::system::error_code&) {});
}

void Supervisor::excuse(Clock::time_point now) {
  const auto time = away();
  excused_ += time;
  // They may have been stopped with us.
  for (auto* process : processes_) process->excuse(time, now);
}

void Supervisor::step(Clock::time_point until) {
  const auto entered = Clock::now();
  excuse(entered);
  until = std::min(until, entered + longest_step);
  for (const auto* process : processes_)
    if (const auto deadline = process->deadline()) until = std::min(until, *deadline);
  io_.restart();
  io_.run_one_until(until);
  // What a worker has sent counts before its silence does.
  const auto read_until = Clock::now() + longest_reading;
  bool all_read = false;
  while (!all_read && Clock::now() < read_until) all_read = io_.poll_one() == 0;
  const auto now = Clock::now();
  excuse(now);
  // Our caller was away, or in this step a slow disk that logs are written to held us up.
  const auto unread =
      entered - stepped_ + std::max(Clock::duration::zero(), now - std::max(entered, until));
  for (auto* process : processes_) {
    // What it says may still lie there, or waited behind what it had to log.
    if (unread > long_absence && (!all_read || process->logged() >= entered))
      process->excuse_silence(unread, now);
    process->tick(now);
  }
  stepped_ = now;
}

bool Supervisor::wait_for(const std::function<bool()>& condition, Clock::time_point until) {
  step(Clock::now());
  while (!condition() && Clock::now() < until) step(until);
  return condition();
}

bool Supervisor::stop_follows() {
  constexpr milliseconds a_moment{50};
  return wait_for([this] { return stop_requested(); }, Clock::now() + a_moment);
}

void Supervisor::send_all(int number) {
  for (auto* process : processes_) process->signal(number);
}

bool Supervisor::wait_until_all_gone(milliseconds timeout, int seen) {
  const auto all_gone = [&] {
    return std::ranges::all_of(processes_, [](const auto* process) { return process->gone(); });
  };
  wait_for([&] { return all_gone() || stop_.requests() > seen; }, Clock::now() + timeout);
  return all_gone();
}

void Supervisor::end_all() noexcept try {
  const int first = stop_requested() ? 1 : 0;
  for (auto* process : processes_) process->shut_down();
  if (wait_until_all_gone(stop_requested() ? stopped_grace : shutdown_grace, first)) return;
  if (stop_.requests() <= first) {
    send_all(SIGTERM);
    if (wait_until_all_gone(terminated_grace, first)) return;
  }
  send_all(SIGKILL);
  // Nothing survives this but a process stuck in its driver, for which nobody should wait.
  const auto deadline = Clock::now() + killed_grace;
  while (Clock::now() < deadline)
    if (wait_until_all_gone(killed_slice, stop_.requests())) return;
} catch (const std::exception&) {
  // A log that cannot be written no longer matters; that nothing is left running does.
  send_all(SIGKILL);
}

}  // namespace evolve::workers

#include "workers/supervise/supervisor.hpp"

#include <fcntl.h>
#include <signal.h>

#include <algorithm>
#include <ctime>
#include <system_error>

#include "workers/supervise/supervised_process.hpp"

namespace evolve::workers {
namespace {

using std::chrono::milliseconds;

/// The longest step: a longer one means that we were stopped meanwhile, by Ctrl-Z or SIGSTOP.
constexpr std::chrono::seconds longest_step{1};
/// How long a step reads at most: those who never pause for breath must not keep us from the time
/// limits, nor from a request to stop.
constexpr milliseconds longest_reading{100};
/// Later than asked for by so much, and it was not a busy machine either.
constexpr std::chrono::seconds stopped_for{2};
/// Who has used a processor for one part in so many of a time was not stopped.
constexpr int least_work = 10;

/// What workers have at the end: first to end by themselves once their input ends (less where a
/// user waits, who asked to stop), then after SIGTERM, and after SIGKILL, slice by slice.
constexpr milliseconds shutdown_grace{2000}, stopped_grace{1000}, terminated_grace{500},
    killed_grace{5000}, killed_slice{100};

Clock::duration if_long(Clock::duration time) {
  return time > stopped_for ? time : Clock::duration::zero();
}

/// Of this process, all its threads.
Clock::duration processor_time() {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

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

Clock::duration Supervisor::late(Clock::time_point now) const {
  return if_long(now - std::max(until_, entered_));
}

Clock::duration Supervisor::away(Clock::time_point now) const {
  // Who calls us may have worked: then time went by for the processes as well.
  const bool worked = worked_ * least_work > entered_ - stepped_;
  return (worked ? Clock::duration::zero() : if_long(entered_ - stepped_)) + late(now);
}

Clock::duration Supervisor::deaf(Clock::time_point now) const {
  return if_long(entered_ - stepped_) + late(now);
}

void Supervisor::step(Clock::time_point until) {
  entered_ = Clock::now();
  worked_ = processor_time() - processor_time_;
  until_ = std::min(until, entered_ + longest_step);
  for (const auto* process : processes_)
    if (const auto deadline = process->deadline()) until_ = std::min(until_, *deadline);
  io_.restart();
  io_.run_one_until(until_);
  // What a worker has sent counts before its silence does.
  const auto read_until = Clock::now() + longest_reading;
  while (Clock::now() < read_until && io_.poll_one() > 0) {
  }
  const auto now = Clock::now();
  const auto time = away(now), unheard = deaf(now);
  for (auto* process : processes_) {
    // They may have been stopped with us, and what the others sent in time has been read by now, or
    // a part of it.
    process->excuse(time, unheard, now);
    process->tick(now);
  }
  stepped_ = now;
  processor_time_ = processor_time();
}

bool Supervisor::wait_for(const std::function<bool()>& condition, Clock::time_point until) {
  step(Clock::now());
  while (!condition() && Clock::now() < until) step(until);
  return condition();
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

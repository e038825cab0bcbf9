#include "workers/supervise/stopped_time.hpp"

#include <signal.h>

namespace evolve::workers {
namespace {

using Clock = StoppedTime::Clock;

constexpr std::chrono::milliseconds between_looks{500};
/// Later than asked for by so much, and it was not a busy machine either.
constexpr std::chrono::seconds stopped_for{2};

Clock::duration if_long(Clock::duration time) {
  return time > stopped_for ? time : Clock::duration::zero();
}

/// Blocks all signals for the thread that has it.
class Blocked {
 public:
  Blocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~Blocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  Blocked(const Blocked&) = delete;
  Blocked& operator=(const Blocked&) = delete;

 private:
  sigset_t before_;
};

/// A thread that no signal is sent to: others wait until they are interrupted by one.
template <class Work>
std::jthread without_signals(Work work) {
  const Blocked blocked;  // it has the mask of whoever makes it
  return std::jthread(std::move(work));
}

}  // namespace

StoppedTime::StoppedTime()
    : thread_(without_signals([this](const std::stop_token& stop) { look(stop); })) {}

Clock::duration StoppedTime::so_far() const {
  const std::scoped_lock lock(mutex_);
  return before_ + if_long(Clock::now() - looked_);
}

void StoppedTime::look(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    const auto now = Clock::now();
    before_ += if_long(now - looked_);
    looked_ = now;
    ended_.wait_for(lock, stop, between_looks, [] { return false; });
  }
}

}  // namespace evolve::workers

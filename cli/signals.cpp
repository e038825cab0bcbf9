#include "cli/signals.hpp"

#include <atomic>

namespace evolve::cli {
namespace {

constexpr std::array signals = {SIGINT, SIGTERM, SIGHUP};

// A signal handler reaches nothing but a global.
std::atomic<core::StopSource*> asked = nullptr;
static_assert(std::atomic<core::StopSource*>::is_always_lock_free);

void request(int number) {
  if (auto* source = asked.load()) source->request(number);
}

}  // namespace

StopOnSignals::StopOnSignals() {
  asked = &source_;
  struct sigaction action {};
  action.sa_handler = request;
  action.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < signals.size(); ++i) {
    ::sigaction(signals[i], nullptr, &before_[i]);
    // As `nohup` has it, and a shell without job control for what it starts with &.
    const bool ignored = before_[i].sa_handler == SIG_IGN;
    if (!ignored) ::sigaction(signals[i], &action, nullptr);
  }
}

StopOnSignals::~StopOnSignals() {
  for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &before_[i], nullptr);
  asked = nullptr;
}

}  // namespace evolve::cli

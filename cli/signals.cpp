#include "cli/signals.hpp"

namespace evolve::cli {
namespace {

// A signal handler reaches nothing but a global.
core::StopSource* asked = nullptr;

void request(int number) {
  if (asked) asked->request(number);
}

}  // namespace

StopOnSignals::StopOnSignals() {
  asked = &source_;
  struct sigaction action {};
  action.sa_handler = request;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, &interrupt_before_);
  ::sigaction(SIGTERM, &action, &terminate_before_);
}

StopOnSignals::~StopOnSignals() {
  ::sigaction(SIGINT, &interrupt_before_, nullptr);
  ::sigaction(SIGTERM, &terminate_before_, nullptr);
  asked = nullptr;
}

}  // namespace evolve::cli

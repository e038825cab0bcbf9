#include "hyp/outcome.hpp"

#include <algorithm>
#include <array>

namespace evolve::hyp {

namespace {

const std::array<std::string, 9> failure_names = {
    "crash", "timeout", "hang", "protocol", "oom", "diverged", "device_lost", "data", "other"};

}  // namespace

const std::string& name_of(FailureKind kind) {
  return failure_names.at(static_cast<std::size_t>(kind));
}

FailureKind failure_kind(const std::string& name) {
  const auto it = std::ranges::find(failure_names, name);
  if (it == failure_names.end()) return FailureKind::other;
  return static_cast<FailureKind>(it - failure_names.begin());
}

bool is_unexplained(FailureKind kind) {
  constexpr std::array kinds = {FailureKind::crash, FailureKind::timeout, FailureKind::hang,
                                FailureKind::protocol, FailureKind::other};
  return std::ranges::count(kinds, kind) > 0;
}

bool ends_trial(const Outcome& outcome) {
  const auto* failed = std::get_if<Failed>(&outcome.result);
  return failed ? failed->final : !std::holds_alternative<Paused>(outcome.result);
}

int reached_epoch(const Outcome& outcome, int epochs) {
  if (const auto* stopped = std::get_if<Stopped>(&outcome.result)) return stopped->epoch;
  if (const auto* paused = std::get_if<Paused>(&outcome.result)) return paused->epoch;
  if (const auto* failed = std::get_if<Failed>(&outcome.result)) return failed->epoch;
  return epochs;
}

}  // namespace evolve::hyp

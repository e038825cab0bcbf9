#include "engine/failures.hpp"

namespace evolve::engine {
namespace {

using hyp::FailureKind;

/// What the worker says of its surroundings is looked at from here: the fault, or that there is
/// none.
void look_again(hyp::Failed& failed, const FailurePolicy& policy) {
  const bool said_data = failed.kind == FailureKind::data;
  if (!policy.find_fault) {
    failed.of_surroundings = failed.unconfirmed = said_data;
    return;
  }
  if (const auto fault = policy.find_fault()) {
    failed.kind = FailureKind::data;
    failed.message = *fault;
    failed.of_surroundings = true;
  } else if (said_data) {
    failed.kind = FailureKind::other;
    failed.message += " (from outside the worker nothing is wrong with it)";
  }
}

}  // namespace

hyp::Failed judge(const workers::NotTrained& failure, const Attempt& attempt, const RunState& state,
                  const FailurePolicy& policy) {
  hyp::Failed failed{.kind = failure.kind,
                     .message = failure.message,
                     .final = false,
                     .failed_before_ready = failure.before_ready};
  if (failed.failed_before_ready) {
    failed.of_surroundings = true;
  } else if (failed.kind == FailureKind::device_lost) {
    failed.of_surroundings = state.device_losses(failure.trial) + 1 < most_device_losses;
  } else if (failed.kind == FailureKind::data || failed.kind == FailureKind::other) {
    look_again(failed, policy);
  }
  if (state.surroundings_failures() > 0) failed.of_surroundings = true;
  if (!failed.of_surroundings) {
    failed.final = failed.kind == FailureKind::diverged || failed.kind == FailureKind::data ||
                   attempt.number > policy.retries;
  }
  return failed;
}

}  // namespace evolve::engine

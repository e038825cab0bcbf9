#include "engine/failures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <string>
#include <system_error>

#include "hyp/trial_folder.hpp"

namespace evolve::engine {
namespace {

using hyp::FailureKind;

/// What the worker says of its surroundings is looked at from here: the fault, or that there is
/// none, where that can be seen.
void look_again(hyp::Failed& failed, const RunState& state, const FailurePolicy& policy) {
  if (const auto fault = policy.find_fault ? policy.find_fault(failed.message) : std::nullopt) {
    const bool said_why = failed.kind == FailureKind::crash;
    failed.kind = FailureKind::data;
    failed.message = said_why ? failed.message + "; " + *fault : *fault;
    failed.of_surroundings = true;
  } else if (failed.kind != FailureKind::data) {
    return;
  } else if (policy.sees_data) {
    failed.kind = FailureKind::other;
    failed.message += " (from outside the worker nothing is wrong with it)";
  } else {
    // What was seen to be missing a moment ago was missing here too.
    const auto& last = state.surroundings().last_failure();
    const bool was_missing =
        state.surroundings().failures() > 0 && last.kind == FailureKind::data && !last.unconfirmed;
    failed.of_surroundings = true;
    failed.unconfirmed = !was_missing;
  }
}

/// What no set of hyperparameters does: a worker finds the disk full where we do not (what it could
/// not write is gone again), a file server away, or the container's shared memory too small.
bool speaks_of_surroundings(const std::string& message) {
  constexpr std::array errors = {ENOSPC, EDQUOT, EIO, EROFS, ESTALE, ENOTCONN};
  const auto says = [&](const std::string& words) {
    return message.find(words) != std::string::npos;
  };
  return says("out of shared memory") || std::ranges::any_of(errors, [&](int error) {
           return says(std::generic_category().message(error));
         });
}

/// Nothing that a set of hyperparameters would explain: the program or its data have gone, or were
/// never there; or dozens of sets, and not one has trained an epoch. `last`: as far as the trial is
/// concerned, no further attempt follows.
bool fails_at_once(const hyp::Failed& failed, bool last, const RunState& state) {
  if (failed.epoch > 0) return false;
  if (!hyp::is_unexplained(failed.kind))
    return state.epochs_trained() == 0 && std::ssize(state.ended()) >= most_ended_untrained;
  // A trial that waits must leave another one to be trained, or it would wait for ever.
  const bool never_trained = state.epochs_trained() == 0 && state.may_have_next_trial();
  return (last && never_trained) || state.surroundings().failed_in_a_row() >= most_failed_in_a_row;
}

std::string log_of(const Attempt& attempt) {
  return hyp::trial_log(attempt.trial.number, attempt.trial.repeat);
}

/// Decides whether a further attempt follows; `last`: as far as the trial is concerned, none does.
void decide(hyp::Failed& failed, bool would_repeat, bool last, const RunState& state) {
  if (!would_repeat && state.surroundings().failures() > 0) failed.of_surroundings = true;
  failed.final = (would_repeat || last) && !failed.of_surroundings;
}

}  // namespace

hyp::Failed as_said(const workers::NotTrained& failure) {
  return {.kind = failure.kind,
          .message = failure.message,
          .failed_before_ready = failure.failed_before_ready,
          .not_started = failure.not_started,
          .excused = failure.excused};
}

hyp::Failed judge(const workers::NotTrained& failure, const Attempt& attempt, const RunState& state,
                  const FailurePolicy& policy) {
  auto failed = as_said(failure);
  failed.log = log_of(attempt);
  failed.epoch = failure.epoch;
  if (failed.excused) {
    failed.final = false;
    failed.of_surroundings = true;
    return failed;
  }
  const auto* before = state.outlived_failure(failure.trial);
  const bool said_before = before && speaks_of_surroundings(before->message);
  if (failed.failed_before_ready || (speaks_of_surroundings(failed.message) && !said_before)) {
    failed.of_surroundings = true;
  } else if (failed.kind == FailureKind::device_lost) {
    failed.of_surroundings = state.device_losses(failure.trial) + 1 < most_device_losses;
  } else if (failed.kind == FailureKind::data || failed.kind == FailureKind::other ||
             (failed.kind == FailureKind::crash && !policy.sees_data)) {
    look_again(failed, state, policy);
  }
  const bool would_repeat = failed.kind == FailureKind::diverged;
  const int lost = std::max(0, failure.epoch - attempt.start_epoch());
  const bool too_dear = lost > 0 && lost > state.epochs_to_spare(attempt);
  const bool tried_enough =
      attempt.number > policy.retries || failed.kind == FailureKind::device_lost;
  const bool last = too_dear || tried_enough;
  if (fails_at_once(failed, last, state)) failed.of_surroundings = true;
  decide(failed, would_repeat, last, state);
  return failed;
}

hyp::Failed judge(const NoFitness& failure, const Attempt& attempt, const RunState& state) {
  hyp::Failed failed{
      .kind = FailureKind::other,
      .message =
          fmt::format("its fitness {} is {}; write it so that every training has one, as in "
                      "2*P*R/(P+R+1e-9)",
                      failure.formula,
                      std::isnan(failure.fitness) ? "no number" : fmt::to_string(failure.fitness)),
      .log = log_of(attempt),
      .epoch = failure.epoch};
  decide(failed, /*would_repeat=*/false, /*last=*/true, state);
  return failed;
}

}  // namespace evolve::engine

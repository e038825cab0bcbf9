// Whose fault a failure is: the trial's, or that of what surrounds it.
#pragma once

#include <string>

#include "engine/run_state.hpp"
#include "engine/settings.hpp"
#include "hyp/outcome.hpp"
#include "workers/supervise/worker_set.hpp"

namespace evolve::engine {

/// A trial that loses its device so often, while others train, is what loses it: it has failed.
inline constexpr int most_device_losses = 5;

/// Where so many trials in a row have failed before their first epoch, it is not the trials.
inline constexpr int most_failed_in_a_row = 10;
/// So many trials may fail for good, whatever they say, before an epoch of any is trained.
inline constexpr int most_ended_untrained = 24;

/// So many failures of the surroundings in a row end the run, as somebody must mend what is wrong.
/// On top of these come as many as all slots can meet at the same time.
inline constexpr int most_surroundings_failures = 5;
/// Where so many trials have failed after an epoch, without saying why, and none has ever ended
/// well, it is most likely the trainer.
inline constexpr int most_without_success = 10;

/// A training that ended well, with metrics that its run's fitness makes nothing of.
struct NoFitness {
  /// See RunSettings::fitness.
  std::string formula;
  /// Not finite.
  double fitness = 0;
  /// The last epoch that it trained.
  int epoch = 0;
};

/// What a worker said of its failure, before anyone judges whose fault it is.
hyp::Failed as_said(const workers::NotTrained& failure);

/// The failure of an attempt as it goes into the journal.
///
/// - A worker that could not be started or was never ready, a lost device, and whatever
///   `find_fault` confirms are failures of the surroundings: never final, never counted as the
///   trial's attempt. But the device that a trial loses for the `most_device_losses`-th time, while
///   others are trained, is final; one that was taken out of the run does not count.
/// - So are a disk that is full or away and too little shared memory, unless the trial has said so
///   before and one that started later has been trained since; and what is_unexplained() before its
///   first epoch once `most_failed_in_a_row` trials have ended so, with nothing trained
///   between them, or when its retries are used up, nothing has ever been trained, and another
///   trial may begin, which tells.
/// - `diverged` would repeat and is final at once.
/// - What is `other`, and a crash of a trainer that need not know what is wrong, is looked at from
///   here: whether `find_fault` finds something.
/// - `data` is what would fail for every set. It is looked at again from here: where `find_fault`
///   sees that nothing is wrong it becomes `other`; where nobody can see that, the trial is held
///   until another one that starts later has been trained (RunState::cleared), and is final then.
///   Not where data were seen to be missing, and nothing has been trained since: these it missed
///   too.
/// - All else is final when the retries are used up, or what the attempt has trained cannot be
///   trained again within the run's epochs, and a fitness that is not finite at once; but nothing
///   is as long as no trial has been trained since the surroundings last failed.
hyp::Failed judge(const workers::NotTrained& failure, const Attempt& attempt, const RunState& state,
                  const FailurePolicy& policy);
hyp::Failed judge(const NoFitness& failure, const Attempt& attempt, const RunState& state);

}  // namespace evolve::engine

#include "engine/failures.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <string>

#include "engine/run_state.hpp"
#include "tests/engine/trials.hpp"

namespace evolve::engine {
namespace {

class Judge : public testing::Test {
 protected:
  hyp::Failed judged(hyp::FailureKind kind, bool before_ready = false) {
    return judge(
        {.trial = 0, .kind = kind, .message = "so it is", .failed_before_ready = before_ready},
        {.number = attempt}, state, policy);
  }

  void start_next() { state.apply(started(*state.next_trial())); }
  void train_one() {
    start_next();
    complete(0);
  }
  void complete(int trial) { state.apply(completed(trial)); }
  /// Trial 0 fails, and its surroundings are to blame.
  void prevent(hyp::FailureKind kind = hyp::FailureKind::other) { state.apply(prevented(0, kind)); }

  RunState state{{.seed = 3, .trials = 200, .space = hyp::default_space()}};
  FailurePolicy policy{.retries = 1};
  int attempt = 1;
};

TEST_F(Judge, GivesATrialItsRetries) {
  train_one();
  EXPECT_FALSE(judged(hyp::FailureKind::crash).final);
  attempt = 2;
  EXPECT_TRUE(judged(hyp::FailureKind::crash).final);
  EXPECT_FALSE(judged(hyp::FailureKind::crash).of_surroundings);
}

TEST_F(Judge, BlamesTheSurroundingsOfTrialsThatFailAtOnceAsLongAsNothingWasEverTrained) {
  start_next();
  EXPECT_FALSE(judged(hyp::FailureKind::crash).of_surroundings) << "it has its retries";
  attempt = 2;
  const auto first = judged(hyp::FailureKind::crash);
  EXPECT_TRUE(first.of_surroundings);
  EXPECT_FALSE(first.final);
  EXPECT_TRUE(judged(hyp::FailureKind::oom).final) << "that is a cause";
  state.apply(hyp::Outcome{.trial = 0, .device = "cpu:0", .attempt = 2, .result = first});
  EXPECT_TRUE(state.in_doubt(0)) << "others are tried meanwhile";
  start_next();
  complete(1);
  EXPECT_FALSE(state.in_doubt(0)) << "it is tried once more";
  EXPECT_TRUE(judged(hyp::FailureKind::crash).final);
}

TEST_F(Judge, BlamesTheFirstTrialWhereALagLetsNoOtherBegin) {
  state = RunState({.seed = 3, .lag = 1, .trials = 200, .space = hyp::default_space()});
  start_next();
  attempt = 2;
  EXPECT_TRUE(judged(hyp::FailureKind::crash).final);
}

TEST_F(Judge, HoldsNoDeviceThatWasTakenAwayAgainstATrial) {
  start_next();
  attempt = 9;
  for (int i = 0; i < most_device_losses; ++i) prevent(hyp::FailureKind::device_lost);
  const auto failed = judge({.trial = 0, .kind = hyp::FailureKind::device_lost, .excused = true},
                            {.number = attempt}, state, policy);
  EXPECT_FALSE(failed.final);
  EXPECT_TRUE(failed.of_surroundings);
  EXPECT_TRUE(failed.excused);
}

TEST_F(Judge, DoesNotRepeatADivergedTraining) {
  EXPECT_TRUE(judged(hyp::FailureKind::diverged).final);
}

TEST_F(Judge, DoesNotRepeatATrainingWithoutAFitness) {
  const NoFitness failure{
      .formula = "1/mAP50", .fitness = std::numeric_limits<double>::infinity(), .epoch = 3};
  const Attempt repeat{.trial = {.number = 17, .repeat = 1}};
  EXPECT_EQ(judge(failure, repeat, state),
            (hyp::Failed{.message = "its fitness 1/mAP50 is inf; write it so that every training "
                                    "has one, as in 2*P*R/(P+R+1e-9)",
                         .log = "trials/000017/repeat/log",
                         .epoch = 3}));
  auto undefined = failure;
  undefined.fitness = -std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(judge(undefined, repeat, state).message,
              testing::StartsWith("its fitness 1/mAP50 is no number; "));
  start_next();
  prevent();
  EXPECT_FALSE(judge(failure, repeat, state).final);
  EXPECT_TRUE(judge(failure, repeat, state).of_surroundings);
}

TEST_F(Judge, NeverHoldsAWorkerThatWasNeverReadyAgainstATrial) {
  attempt = 9;
  const auto failed = judged(hyp::FailureKind::hang, true);
  EXPECT_FALSE(failed.final);
  EXPECT_TRUE(failed.of_surroundings);
  EXPECT_TRUE(failed.failed_before_ready);
}

TEST_F(Judge, WritesNothingFinalAsLongAsTheSurroundingsHaveFailed) {
  start_next();
  prevent();
  attempt = 9;
  EXPECT_FALSE(judged(hyp::FailureKind::crash).final);
  EXPECT_TRUE(judged(hyp::FailureKind::crash).of_surroundings);
}

TEST_F(Judge, TriesNoTrainingAgainThatDivergedWhateverElseHasFailed) {
  start_next();
  prevent();
  EXPECT_TRUE(judged(hyp::FailureKind::diverged).final);
  EXPECT_FALSE(judged(hyp::FailureKind::diverged).of_surroundings);
}

TEST_F(Judge, LooksAtTheDataFromOutside) {
  policy.find_fault = [](const std::string&) { return "data.yaml: No such file or directory"; };
  const auto gone = judged(hyp::FailureKind::other);
  EXPECT_EQ(gone.kind, hyp::FailureKind::data);
  EXPECT_EQ(gone.message, "data.yaml: No such file or directory");
  EXPECT_TRUE(gone.of_surroundings);
  policy.find_fault = [](const std::string&) { return std::nullopt; };
  policy.sees_data = true;
  const auto denied = judged(hyp::FailureKind::data);
  EXPECT_EQ(denied.kind, hyp::FailureKind::other);
  EXPECT_EQ(denied.message, "so it is (from outside the worker nothing is wrong with it)");
  EXPECT_FALSE(denied.of_surroundings);
  EXPECT_FALSE(denied.final);
}

TEST_F(Judge, HoldsWhatNobodyCanLookAt) {
  const auto held = judged(hyp::FailureKind::data);
  EXPECT_EQ(held.kind, hyp::FailureKind::data);
  EXPECT_TRUE(held.of_surroundings);
  EXPECT_TRUE(held.unconfirmed);
  EXPECT_FALSE(held.final);
}

TEST_F(Judge, HoldsNothingForDataThatWereMissingAMomentAgo) {
  start_next();
  prevent(hyp::FailureKind::data);
  const auto failed = judged(hyp::FailureKind::data);
  EXPECT_TRUE(failed.of_surroundings);
  EXPECT_FALSE(failed.unconfirmed);
  prevent(hyp::FailureKind::other);
  EXPECT_TRUE(judged(hyp::FailureKind::data).unconfirmed) << "it was not the data that failed last";
}

TEST_F(Judge, HoldsWhatOnlyTheTrainerCanSeeHoweverFarItCame) {
  policy.find_fault = [](const std::string&) {
    return std::nullopt;
  };  // its data are where they were
  const workers::NotTrained failure{
      .trial = 0, .kind = hyp::FailureKind::data, .message = "Image Not Found", .epoch = 40};
  const auto failed = judge(failure, {.number = 9}, state, policy);
  EXPECT_EQ(failed.kind, hyp::FailureKind::data);
  EXPECT_EQ(failed.message, "Image Not Found");
  EXPECT_TRUE(failed.unconfirmed);
  EXPECT_FALSE(failed.final);
}

TEST_F(Judge, BlamesATrialThatLosesOneDeviceAfterTheOther) {
  start_next();
  attempt = 9;
  for (int i = 1; i < most_device_losses; ++i) {
    const auto failed = judged(hyp::FailureKind::device_lost);
    EXPECT_TRUE(failed.of_surroundings) << i;
    prevent(hyp::FailureKind::device_lost);
    start_next();
    complete(i);
  }
  EXPECT_TRUE(judged(hyp::FailureKind::device_lost).final);
}

TEST_F(Judge, TakesADiskThatIsFullOrAwayForTheSurroundings) {
  train_one();
  attempt = 9;
  for (const auto* message :
       {"trials/000000/paused.pt: No space left on device",
        "OSError: [Errno 116] Stale file handle: 'results.csv'",
        "OSError: [Errno 5] Input/output error: 'weights/last.pt'",
        "OSError: [Errno 122] Disk quota exceeded: 'weights/last.pt'",
        "OSError: [Errno 30] Read-only file system: 'results.csv'",
        "OSError: [Errno 107] Transport endpoint is not connected: '/mnt/data/images'",
        "RuntimeError: DataLoader worker (pid 7) is killed by signal: Bus error. It is possible "
        "that dataloader's workers are out of shared memory."}) {
    const workers::NotTrained failure{
        .trial = 0, .kind = hyp::FailureKind::other, .message = message};
    const auto failed = judge(failure, {.number = attempt}, state, policy);
    EXPECT_TRUE(failed.of_surroundings) << message;
    EXPECT_FALSE(failed.final) << message;
  }
}

TEST_F(Judge, BlamesATrialThatSpeaksOfAFullDiskWhereOthersAreTrained) {
  start_next();
  attempt = 9;
  const auto full = [&] {
    return judge({.trial = 0,
                  .kind = hyp::FailureKind::other,
                  .message = "OSError: [Errno 28] No space left on device"},
                 {.number = attempt}, state, policy);
  };
  const auto first = full();
  EXPECT_TRUE(first.of_surroundings);
  state.apply(hyp::Outcome{.trial = 0, .device = "cpu:0", .result = first});
  EXPECT_TRUE(full().of_surroundings) << "nothing was trained since";
  start_next();
  complete(1);
  EXPECT_FALSE(full().of_surroundings);
  EXPECT_TRUE(full().final);
  attempt = 1;
  EXPECT_FALSE(full().final) << "it has its retries";
}

TEST_F(Judge, TakesTheFirstFullDiskForTheSurroundingsWhateverTheTrialHadBefore) {
  start_next();
  state.apply(
      hyp::Outcome{.trial = 0, .device = "cpu:0", .result = judged(hyp::FailureKind::crash)});
  start_next();
  complete(1);
  const workers::NotTrained full{
      .trial = 0, .kind = hyp::FailureKind::other, .message = "No space left on device"};
  EXPECT_FALSE(judge(full, {.number = 9}, state, policy).final);
}

TEST_F(Judge, BlamesTheSurroundingsOnceTenTrialsInARowFailedBeforeTheirFirstEpoch) {
  train_one();
  attempt = 9;
  for (int trial = 1; trial <= most_failed_in_a_row; ++trial) {
    start_next();
    const auto failed = judged(hyp::FailureKind::crash);
    EXPECT_TRUE(failed.final) << trial;
    state.apply(hyp::Outcome{.trial = trial, .device = "cpu:0", .result = failed});
  }
  EXPECT_FALSE(judged(hyp::FailureKind::crash).final);
  EXPECT_TRUE(judged(hyp::FailureKind::other).of_surroundings);
  EXPECT_TRUE(judged(hyp::FailureKind::hang).of_surroundings);
  EXPECT_TRUE(judged(hyp::FailureKind::oom).final);
  const workers::NotTrained later{.trial = 0, .kind = hyp::FailureKind::crash, .epoch = 3};
  EXPECT_TRUE(judge(later, {.number = 9}, state, policy).final) << "it was trained";
  start_next();
  complete(most_failed_in_a_row + 1);
  EXPECT_TRUE(judged(hyp::FailureKind::crash).final);
}

// Without --trials there is no end to what may be bred.
TEST_F(Judge, BlamesTheSurroundingsOnceDozensDivergedBeforeAnEpochOfAnyWasTrained) {
  for (int trial = 0; trial < most_ended_untrained; ++trial) {
    start_next();
    const auto failed = judged(hyp::FailureKind::diverged);
    EXPECT_TRUE(failed.final) << trial;
    state.apply(hyp::Outcome{.trial = trial, .device = "cpu:0", .result = failed});
  }
  start_next();
  EXPECT_TRUE(judged(hyp::FailureKind::diverged).of_surroundings);
  EXPECT_FALSE(judged(hyp::FailureKind::oom).final);
  complete(most_ended_untrained);
  start_next();
  EXPECT_TRUE(judged(hyp::FailureKind::diverged).final) << "some sets can be trained";
}

TEST_F(Judge, BeginsTheRowAgainWhereATrialReachedAnEpoch) {
  attempt = 9;
  for (int trial = 0; trial < most_failed_in_a_row; ++trial) {
    start_next();
    state.apply(failed(trial, {.kind = hyp::FailureKind::crash, .epoch = trial == 5 ? 1 : 0}));
  }
  EXPECT_TRUE(judged(hyp::FailureKind::crash).final);
}

TEST_F(Judge, CountsOneTrialOfARowOnceHoweverOftenItIsTried) {
  train_one();
  start_next();
  for (int i = 0; i < most_failed_in_a_row; ++i)
    state.apply(failed(1, {.kind = hyp::FailureKind::crash, .final = false}));
  attempt = 9;
  EXPECT_TRUE(judged(hyp::FailureKind::crash).final);
}

TEST_F(Judge, TellsWhoLooksWhatTheWorkerSaid) {
  std::string told;
  policy.find_fault = [&](const std::string& said) {
    told = said;
    return std::nullopt;
  };
  judged(hyp::FailureKind::data);
  EXPECT_EQ(told, "so it is");
}

}  // namespace
}  // namespace evolve::engine

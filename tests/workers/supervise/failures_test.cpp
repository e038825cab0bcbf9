// Everything that can go wrong with a trial, and what is left of its worker: nothing.

#include "tests/workers/fixture.hpp"

namespace evolve::workers {
namespace {

using hyp::FailureKind;
using std::chrono::seconds;

Ending failed(FailureKind kind, const std::string& message) {
  return {.kind = kind, .message = message};
}

Ending failed_before_ready(FailureKind kind, const std::string& message) {
  return {.kind = kind, .message = message, .failed_before_ready = true};
}

struct Case {
  std::string mode;
  Ending failure;
};
void PrintTo(const Case& one, std::ostream* to) {
  *to << one.mode;
}

class Failures : public Workers, public testing::WithParamInterface<Case> {};

TEST_P(Failures, EndTheWorkerAndTheNextTrialHasAnother) {
  WorkerSet workers(settings(), stop);
  EXPECT_EQ(failure(workers, 0, GetParam().mode), GetParam().failure);
  EXPECT_TRUE(is_gone(pid(0)));
  EXPECT_TRUE(std::holds_alternative<Trained>(run(workers, 1, "ok")));
  EXPECT_NE(pid(0), pid(1));
}

INSTANTIATE_TEST_SUITE_P(
    Of, Failures,
    testing::Values(
        Case{"crash", failed(FailureKind::crash, "exit code 3: RuntimeError: boom")},
        Case{"abort", failed(FailureKind::crash, "killed by signal 6 (SIGABRT)")},
        Case{"killed",
             failed(
                 FailureKind::crash,
                 "killed by signal 9 (SIGKILL): by somebody, or by the kernel for want of memory")},
        Case{"half a line", failed(FailureKind::crash, "exit code 0 without a result")},
        Case{"misspells and exits",
             failed(FailureKind::crash,
                    "exit code 0 without a result; its last line is no message that evolve knows: "
                    "{\"type\":\"results\",\"trial\":0}")},
        Case{"leaves a grandchild", failed(FailureKind::crash, "exit code 4")},
        Case{"garbage", failed(FailureKind::protocol,
                               "it wrote a line that is no JSON object: Epoch 2/3: loss 0.5")},
        Case{"nan", failed(FailureKind::protocol, "metric metrics/mAP_0.5:0.95 is not finite")},
        Case{"nan without a newline",
             failed(FailureKind::protocol, "metric metrics/mAP_0.5:0.95 is not finite")},
        Case{"many keys without a newline", failed(FailureKind::crash, "exit code 3")},
        Case{"signs of another",
             failed(FailureKind::protocol, "it speaks of trial 77, which it was not given")},
        Case{"missing metric",
             failed(FailureKind::protocol, "metric metrics/precision is missing")},
        Case{"other trial",
             failed(FailureKind::protocol, "it speaks of trial 1, which it was not given")},
        Case{"counts wrongly", failed(FailureKind::protocol,
                                      "it reports epoch 100000, epochs are counted from 1 to 4")},
        Case{"counts from 0",
             failed(FailureKind::protocol, "it reports epoch 0, epochs are counted from 1 to 4")},
        Case{"endless line",
             failed(FailureKind::protocol, "it wrote a line of more than 1048576 bytes")},
        Case{"closes its output",
             failed(FailureKind::protocol, "it closed its standard input or output")},
        Case{"closes its output with a word",
             failed(FailureKind::protocol,
                    "it closed its standard input or output: ImportError: no libtorch")},
        Case{"out of memory", failed(FailureKind::oom, "CUDA out of memory")}),
    [](const auto& parameter) {
      auto name = parameter.param.mode;
      std::erase(name, ' ');
      return name;
    });

TEST_F(Workers, ThatExplainThemselvesAtLengthAreRepeatedInTheLog) {
  WorkerSet workers(settings(), stop);
  EXPECT_EQ(failure(workers, 0, "explains itself at length"),
            failed(FailureKind::other, "TypeError: no"));
  EXPECT_EQ(text(0, "log"), "Traceback (most recent call last):\n  f()\nTypeError: no\n\n");
}

TEST_F(Workers, FailWhenTheyAreSilentTooLong) {
  auto impatient = settings();
  impatient.hang_timeout = seconds(5);  // it starts within these too
  WorkerSet workers(impatient, stop);
  EXPECT_EQ(failure(workers, 0, "hang"),
            failed(FailureKind::hang, "silent for 5 s; a longer --hang-timeout allows more"));
  EXPECT_TRUE(is_gone(pid(0)));
}

TEST_F(Workers, ThatAreSilentAfterAnUnknownMessageHearWhichThatWas) {
  auto impatient = settings();
  impatient.hang_timeout = seconds(5);
  WorkerSet workers(impatient, stop);
  EXPECT_EQ(failure(workers, 0, "misspells"),
            failed(FailureKind::hang,
                   "silent for 5 s; its last line is no message that evolve knows: "
                   "{\"type\":\"results\",\"trial\":0}"));
}

TEST_F(Workers, MaySayAnythingOfWhatIsNotCompared) {
  WorkerSet workers(settings("nested device"), stop);
  EXPECT_TRUE(std::holds_alternative<Trained>(run(workers, 0, "ok")));
}

TEST_F(Workers, FailWhenTheyAreSilentTooLongThoughTheCoordinatorIsOftenLate) {
  auto impatient = settings();
  impatient.hang_timeout = seconds(1);
  WorkerSet workers(impatient, stop);
  workers.start(trial(0, "hang"), lease());
  int late = 0;
  while (workers.busy() > 0 && late < 6) {
    for (int i = 0; i < 8 && workers.busy() > 0; ++i) workers.wait(std::chrono::milliseconds(50));
    if (workers.busy() == 0) break;
    ++late;
    std::this_thread::sleep_for(std::chrono::milliseconds(2100));
  }
  EXPECT_EQ(workers.busy(), 0);
  EXPECT_GE(late, 1);
}

TEST_F(Workers, ThatSendSignsOfLifeHaveAMinute) {
  auto impatient = settings();
  impatient.hang_timeout = seconds(5);
  WorkerSet workers(impatient, stop);
  // It is silent for seven seconds after its `alive`.
  EXPECT_TRUE(std::holds_alternative<Trained>(run(workers, 0, "alive, then slow")));
}

TEST_F(Workers, ThatWaitForAnAnswerAreNotSilent) {
  Supervisor supervisor(stop);
  const auto nothing = [](const auto&) {};
  SupervisedProcess worker(
      supervisor, settings().command, {.name = "cpu:0"},
      {.line = [](const auto&) { return Sense::some; }, .log = nothing, .gone = nothing});
  worker.assign("", {.hang = seconds(600), .in_all = {}});
  std::this_thread::sleep_for(seconds(1));  // at a rung, while the journal is written
  worker.send("");
  EXPECT_GT(worker.deadline().value() - Clock::now(), std::chrono::milliseconds(599500));
  supervisor.end_all();
}

TEST_F(Workers, ThatSendSignsOfLifeHaveAMinuteOrAsLongAsAnyOther) {
  for (const auto& [timeout, allowed] : {std::pair(1, 60), std::pair(600, 600)}) {
    Supervisor supervisor(stop);
    const auto nothing = [](const auto&) {};
    SupervisedProcess worker(
        supervisor, settings().command, {.name = "cpu:0"},
        {.line = [](const auto&) { return Sense::some; }, .log = nothing, .gone = nothing});
    worker.assign("", {.hang = seconds(timeout), .in_all = {}});
    worker.on(Alive{});
    const auto left = worker.deadline().value() - Clock::now();
    EXPECT_LE(left, seconds(allowed));
    EXPECT_GT(left, seconds(allowed - 20));
    supervisor.end_all();
  }
}

TEST_F(Workers, MayBeSilentForEverWhereNoTimeoutIsSet) {
  auto patient = settings();
  patient.hang_timeout.reset();
  WorkerSet workers(patient, stop);
  EXPECT_TRUE(std::holds_alternative<Trained>(run(workers, 0, "slow")));
}

TEST_F(Workers, FailWhenTheyIgnoreTheSignalToEnd) {
  auto impatient = settings();
  impatient.hang_timeout = seconds(5);
  WorkerSet workers(impatient, stop);
  EXPECT_EQ(failure(workers, 0, "stubborn"),
            failed(FailureKind::hang, "silent for 5 s; a longer --hang-timeout allows more"));
  EXPECT_TRUE(is_gone(pid(0)));
}

TEST_F(Workers, AreAskedToEndBeforeTheyAreKilled) {
  auto impatient = settings();
  impatient.hang_timeout = seconds(5);
  WorkerSet workers(impatient, stop);
  EXPECT_EQ(failure(workers, 0, "writes down that it is asked to end").kind, FailureKind::hang);
  EXPECT_TRUE(std::filesystem::exists(folder(0) + "/asked"));
  EXPECT_TRUE(is_gone(pid(0)));
}

TEST_F(Workers, FailForTheLastOfAllThatTheyWrote) {
  auto wordy = settings();
  wordy.command = {"sh", "-c",
                   "echo '{\"type\":\"ready\",\"protocol\":1}'; read order;"
                   "seq 9999 >&2; echo 'RuntimeError: CUDA out of memory' >&2; exit 3"};
  WorkerSet workers(wordy, stop);
  EXPECT_EQ(failure(workers, 0, "ok"),
            failed(FailureKind::oom, "exit code 3: RuntimeError: CUDA out of memory"));
}

TEST_F(Workers, FailWhenTheyAreNeverReady) {
  auto impatient = settings("never ready");
  impatient.hang_timeout = seconds(1);
  WorkerSet workers(impatient, stop);
  EXPECT_EQ(failure(workers, 0, "ok"),
            failed_before_ready(FailureKind::hang,
                                "not ready for 1 s; a longer --hang-timeout allows more"));
}

TEST_F(Workers, FailWhenTheyStartLongerThanATrialMayTake) {
  auto impatient = settings("never ready");
  impatient.trial_timeout = seconds(1);
  WorkerSet workers(impatient, stop);
  EXPECT_EQ(failure(workers, 0, "ok"),
            failed_before_ready(FailureKind::timeout,
                                "not ready after 1 s; a longer --trial-timeout allows more"));
}

TEST_F(Workers, FailWhenTheTrialTakesTooLongThoughTheySpeak) {
  auto impatient = settings();
  impatient.trial_timeout = seconds(5);
  WorkerSet workers(impatient, stop);
  EXPECT_EQ(failure(workers, 0, "chatters"),
            failed(FailureKind::timeout, "not finished after 5 s"));
  EXPECT_TRUE(is_gone(pid(0)));
}

// The first of all trials decodes the images for all of them.
TEST_F(Workers, MayPrepareForLongerThanATrialMayTake) {
  auto impatient = settings();
  impatient.trial_timeout = seconds(2);
  WorkerSet workers(impatient, stop);
  const auto end = trained(workers, 0, "prepares");  // 3 s, which it says 6 times
  EXPECT_GE(end.seconds, 3);
  EXPECT_GE(end.prepared, 2.5);
  EXPECT_LT(end.prepared, end.seconds);
}

TEST_F(Workers, FailWhenTheTrialsTakeTooLongThoughTheyNeverPauseForBreath) {
  auto impatient = settings();
  impatient.trial_timeout = seconds(10);  // they have as long to start, all at once
  WorkerSet workers(impatient, stop);
  for (const int number : {0, 1, 2, 3})
    workers.start(trial(number, "never pauses for breath"), lease("cpu:" + std::to_string(number)));
  const auto all = ends(workers);
  ASSERT_EQ(all.size(), 4u);
  for (const auto& one : all)
    EXPECT_EQ(ending(std::get<NotTrained>(one)),
              failed(FailureKind::timeout, "not finished after 10 s"));
}

TEST_F(Workers, FailWhenATrialThatGoesOnTakesTooLongInAll) {
  auto impatient = settings("late");  // by more than the trial has left
  impatient.trial_timeout = seconds(3600);
  WorkerSet workers(impatient, stop);
  auto goes_on = trial(0, "hang");
  goes_on.order.start_epoch = 2;
  goes_on.before = seconds(3599);
  workers.start(goes_on, lease());
  EXPECT_EQ(ending(std::get<NotTrained>(ends(workers).at(0))),
            failed(FailureKind::timeout, "not finished after 3600 s"));
}

TEST_F(Workers, TellTheTimeThatATrialTookWithoutWhatTheyTookToStart) {
  WorkerSet workers(settings("late"), stop);  // by 1.5 s
  const auto began = std::chrono::steady_clock::now();
  const double taken = trained(workers, 0, "ok").seconds;
  const std::chrono::duration<double> in_all = std::chrono::steady_clock::now() - began;
  EXPECT_LE(taken, in_all.count() - 1.5);
}

TEST_F(Workers, TellTheLastEpochThatTheyFinished) {
  WorkerSet workers(settings(), stop);
  const auto epoch = [&](const Assignment& assignment) {
    workers.start(assignment, lease());
    return std::get<NotTrained>(ends(workers).at(0)).epoch;
  };
  EXPECT_EQ(epoch(trial(0, "crash")), 1);
  EXPECT_EQ(epoch(trial(1, "counts wrongly")), 1) << "not 100000";
  auto goes_on = trial(2, "crash");
  goes_on.order.start_epoch = 2;
  EXPECT_EQ(epoch(goes_on), 0) << "none since it went on";
}

TEST_F(Workers, FailWhenTheyDieBeforeTheyAreReady) {
  WorkerSet workers(settings("dies at once"), stop);
  for (int attempt = 0; attempt < 2; ++attempt)
    EXPECT_EQ(failure(workers, 0, "ok"),
              failed_before_ready(FailureKind::crash, "worker never became ready: exit code 5"));
}

TEST_F(Workers, FailWhenTheyGreetInAnotherLanguage) {
  WorkerSet greeting(settings("hello"), stop);
  EXPECT_EQ(
      failure(greeting, 0, "ok"),
      failed_before_ready(FailureKind::protocol, "it wrote a line that is no JSON object: hello"));
  WorkerSet newer(settings("protocol 2"), stop);
  EXPECT_EQ(failure(newer, 0, "ok"),
            failed_before_ready(FailureKind::protocol, "it speaks protocol 2, evolve speaks 1"));
}

}  // namespace
}  // namespace evolve::workers

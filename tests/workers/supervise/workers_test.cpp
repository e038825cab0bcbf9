#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <set>

#include "core/error.hpp"
#include "tests/workers/fixture.hpp"

namespace evolve::workers {
namespace {

using nlohmann::json;
using testing::ElementsAre;

const hyp::Metrics half = scored(0.5);

TEST_F(Workers, TrainATrial) {
  WorkerSet workers(settings(), stop);
  workers.start(trial(17, "ok"), lease("cpu:3"));
  EXPECT_EQ(workers.busy(), 1);
  const auto all = ends(workers);
  ASSERT_EQ(all.size(), 1u);
  const auto end = std::get<Trained>(all[0]);
  EXPECT_EQ(end.trial, 17);
  EXPECT_EQ(end.device, "cpu:3");
  EXPECT_GT(end.seconds, 0);
  EXPECT_EQ(end.metrics, half);
  EXPECT_EQ(end.obeyed, hyp::Decision::go_on);
}

// It explains a run, or asks a driver, while a training goes on.
TEST_F(Workers, CountTheTimeInWhichTheCoordinatorIsBusy) {
  WorkerSet workers(settings(), stop);
  run(workers, 0, "ok");
  workers.start(trial(1, "ok"), lease());
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(2300);
  while (std::chrono::steady_clock::now() < until) {
  }
  EXPECT_GT(std::get<Trained>(ends(workers)[0]).seconds, 2);
}

TEST_F(Workers, AreToldEverythingAboutATrial) {
  WorkerSet workers(settings(), stop);
  run(workers, 17, "ok");
  EXPECT_EQ(json::parse(text(17, "message")), json({{"type", "train"},
                                                    {"trial", 17},
                                                    {"hyp", {{"lr0", 0.01}, {"mode", "ok"}}},
                                                    {"epochs", 4},
                                                    {"device", "cpu:0"},
                                                    {"seed", 42},
                                                    {"dir", folder(17)},
                                                    {"rungs", json::array()},
                                                    {"options", {{"imgsz", 64}}}}));
}

TEST_F(Workers, LiveOnForTheNextTrial) {
  WorkerSet workers(settings(), stop);
  run(workers, 0, "ok");
  run(workers, 1, "ok");
  EXPECT_EQ(pid(0), pid(1));
}

TEST_F(Workers, AreStartedAnewWhereTheirSlotIsShownAnotherDevice) {
  WorkerSet workers(settings(), stop);
  const auto run_on = [&](int number, const std::string& mask) {
    workers.start(trial(number, "ok"),
                  lease({.name = "xpu:1", .environment = {{"ZE_AFFINITY_MASK", mask}}}));
    ends(workers);
  };
  run_on(0, "1");
  run_on(1, "0");
  run_on(2, "0");
  EXPECT_NE(pid(0), pid(1));
  EXPECT_EQ(pid(1), pid(2));
  EXPECT_EQ(::kill(pid(0), 0), -1);
}

TEST_F(Workers, AreOnePerSlot) {
  WorkerSet workers(settings(), stop);
  workers.start(trial(0, "hang"), lease("cuda:0"));
  workers.start(trial(1, "hang"), lease("cuda:1"));
  // "cuda:0*2" makes two slots of one name.
  workers.start(trial(2, "hang"), lease("cuda:0"));
  EXPECT_EQ(workers.busy(), 3);
  for (const int number : {0, 1, 2}) wait_until_at_work(workers, number);
  EXPECT_EQ((std::set<pid_t>{pid(0), pid(1), pid(2)}).size(), 3u);
}

TEST_F(Workers, GiveTheLeaseBackWithTheOutcome) {
  bool lent = true;
  const core::Slot slot{.name = "cpu:0", .environment = {}, .cores = {}};
  WorkerSet workers(settings(), stop);
  workers.start(trial(0, "ok"), core::Lease(&slot, [&](const core::Slot*) { lent = false; }));
  EXPECT_TRUE(lent);
  ends(workers);
  EXPECT_FALSE(lent);
}

TEST_F(Workers, ReturnNothingNewAfterPatience) {
  WorkerSet workers(settings(), stop);
  EXPECT_EQ(workers.wait(std::chrono::milliseconds(0))->size(), 0u);
  workers.start(trial(0, "hang"), lease());
  EXPECT_EQ(workers.wait(std::chrono::milliseconds(20))->size(), 0u);
  EXPECT_EQ(workers.busy(), 1);
}

TEST_F(Workers, ShowTheirProgress) {
  WorkerSet workers(settings(), stop);
  EXPECT_TRUE(workers.progress().empty());
  workers.start(trial(5, "hang"), lease("cpu:1"));
  EXPECT_EQ(workers.progress().at(0).epoch, 0);
  while (workers.progress().at(0).epoch == 0) workers.wait(std::chrono::milliseconds(10));
  const auto progress = workers.progress().at(0);
  EXPECT_EQ(progress.trial, 5);
  EXPECT_EQ(progress.device, "cpu:1");
  EXPECT_EQ(progress.epoch, 1);
  EXPECT_EQ(progress.epochs, 4);
  EXPECT_EQ(progress.metrics.map50_95, 0.125);
}

TEST_F(Workers, MayStopForReasonsOfTheirOwnWhichIsAPlainResult) {
  WorkerSet workers(settings(), stop);
  int number = 0;
  for (const std::string mode : {"stopped", "paused"}) {
    const auto end = trained(workers, number++, mode);
    EXPECT_EQ(end.obeyed, hyp::Decision::go_on) << mode;
    EXPECT_EQ(end.metrics, half) << mode;
    EXPECT_EQ(end.epoch, 4) << mode;
  }
}

TEST_F(Workers, ReportMetricsWhateverTheyAreWorth) {
  WorkerSet workers(settings(), stop);
  EXPECT_EQ(trained(workers, 0, "zero").metrics.map50_95, 0);
  EXPECT_EQ(trained(workers, 1, "ok").metrics, half);
  EXPECT_EQ(pid(0), pid(1)) << "a healthy worker lives on";
}

TEST_F(Workers, LogWhatTheTrainerWritesToStandardError) {
  WorkerSet workers(settings(), stop);
  run(workers, 3, "talks");
  // What it wrote before its result may be read after it.
  while (text(3, "log").size() < 23) workers.wait(std::chrono::milliseconds(10));
  EXPECT_EQ(text(3, "log"), "first line\nsecond line\n");
}

TEST_F(Workers, LogWhatTheTrainerWritesBeforeItHasATrial) {
  WorkerSet workers(settings("warns"), stop);
  workers.warm_up({.name = "cpu:0"});
  while (!workers.can_pause()) ASSERT_TRUE(workers.wait(std::chrono::milliseconds(10)));
  trained(workers, 0, "talks");
  EXPECT_EQ(text(0, "log"), "UserWarning: old\nfirst line\nsecond line\n");
  trained(workers, 1, "talks");
  EXPECT_EQ(text(1, "log"), "first line\nsecond line\n");
}

TEST_F(Workers, ThatAreStartedAheadAndCannotStartSayWhy) {
  WorkerSet workers(settings("says why it dies late"), stop);
  workers.warm_up({.name = "cpu:0"});
  workers.wait(std::chrono::milliseconds(500));  // it has spoken
  EXPECT_EQ(failure(workers, 0, "ok"),
            (Ending{.kind = hyp::FailureKind::crash,
                    .message = "worker never became ready: exit code 5: ImportError: no torch",
                    .failed_before_ready = true}));
}

TEST_F(Workers, FillNoDiskWithWhatTheyWriteToStandardError) {
  WorkerSet workers(settings(), stop);
  EXPECT_EQ(trained(workers, 3, "never stops talking").metrics, half);
  const auto log = text(3, "log");
  EXPECT_LT(log.size(), std::size_t{257} << 20);
  EXPECT_TRUE(log.ends_with("\nevolve: what follows is left out, after 256 MiB\n"));
  EXPECT_EQ(trained(workers, 4, "talks").metrics, half);
  EXPECT_EQ(text(4, "log"), "first line\nsecond line\n") << "each attempt may write as much";
}

// Another run may begin in its place.
TEST_F(Workers, MakeNoFolderOfARunThatIsGone) {
  WorkerSet workers(settings(), stop);
  run(workers, 0, "ok");
  std::filesystem::remove_all(directory.path());
  try {
    workers.start(trial(1, "ok"), lease());
    FAIL() << "it was begun";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("/trials/000001/log: cannot write (No such file"));
    EXPECT_THAT(error.what(), testing::HasSubstr("bring its folder back"));
  }
  EXPECT_FALSE(std::filesystem::exists(directory.path()));
  std::filesystem::create_directory(directory.path());
}

TEST_F(Workers, AppendTheLogOfAFurtherAttempt) {
  WorkerSet workers(settings(), stop);
  run(workers, 0, "crash");
  run(workers, 0, "crash");
  EXPECT_EQ(text(0, "log"), "loading\nRuntimeError: boom\n\nloading\nRuntimeError: boom\n\n");
}

TEST_F(Workers, MayUseUnknownTypesUnknownKeysAndBlankLines) {
  WorkerSet workers(settings(), stop);
  EXPECT_EQ(trained(workers, 0, "talks").metrics, half);
}

TEST_F(Workers, ThatExitBetweenTrialsAreReplaced) {
  WorkerSet workers(settings(), stop);
  for (const int number : {0, 1, 2}) {
    EXPECT_EQ(trained(workers, number, "ok, and exits").metrics, half);
    wait_until_dead(pid(number));
  }
  EXPECT_EQ((std::set<pid_t>{pid(0), pid(1), pid(2)}).size(), 3u);
}

TEST_F(Workers, ThatDieBetweenTrialsAreReplaced) {
  WorkerSet workers(settings(), stop);
  EXPECT_EQ(trained(workers, 0, "ok, and fails on its way out").metrics, half);
  EXPECT_EQ(trained(workers, 1, "ok, and reads no more").metrics, half);
  EXPECT_EQ(trained(workers, 2, "ok").metrics, half);
  EXPECT_EQ((std::set<pid_t>{pid(0), pid(1), pid(2)}).size(), 3u);
}

TEST_F(Workers, ThatDieOfALaterTrialAreNoReplacements) {
  WorkerSet workers(settings(), stop);
  EXPECT_EQ(trained(workers, 0, "ok").metrics, half);
  EXPECT_EQ(failure(workers, 1, "dies without a word").kind, hyp::FailureKind::crash);
}

TEST_F(Workers, ThatDieOfALaterTrialDieOfNothingThatTheyWroteInAnEarlierOne) {
  WorkerSet workers(settings(), stop);
  EXPECT_EQ(trained(workers, 0, "talks").metrics, half);
  EXPECT_EQ(failure(workers, 1, "dies without a word").message, "exit code 3");
}

TEST_F(Workers, ThatSpeakOutOfTurnAreReplaced) {
  WorkerSet workers(settings(), stop);
  EXPECT_EQ(trained(workers, 0, "ok, then garbage").metrics, half);
  EXPECT_EQ(trained(workers, 1, "ok").metrics, half);
  EXPECT_TRUE(is_gone(pid(0)));
  EXPECT_NE(pid(0), pid(1));
}

TEST_F(Workers, ThatSpeakOutOfTurnWhenTheNextTrialWaitsAreReplacedAndItFailsNot) {
  WorkerSet workers(settings(), stop);
  EXPECT_EQ(trained(workers, 0, "ok, then late garbage").metrics, half);
  EXPECT_EQ(trained(workers, 1, "ok, then the same once more").metrics, half);
  EXPECT_EQ(trained(workers, 2, "ok").metrics, half);
  EXPECT_EQ((std::set<pid_t>{pid(0), pid(1), pid(2)}).size(), 3u);
}

TEST_F(Workers, ThatEndAfterALateSignOfLifeAreReplacedAndTheNextTrialFailsNot) {
  WorkerSet workers(settings(), stop);
  EXPECT_EQ(trained(workers, 0, "ok, then a late sign of life").metrics, half);
  EXPECT_EQ(trained(workers, 1, "ok").metrics, half);
  EXPECT_NE(pid(0), pid(1));
}

TEST_F(Workers, ThatHangBeforeTheyReadTheNextTrialAreNotHeldAgainstIt) {
  for (const bool in_all : {false, true}) {
    auto impatient = settings();
    (in_all ? impatient.trial_timeout : impatient.hang_timeout) = std::chrono::seconds(5);
    WorkerSet workers(impatient, stop);
    EXPECT_EQ(trained(workers, 0, "ok, and hangs on its way out").metrics, half);
    const auto failed = std::get<NotTrained>(run(workers, 1, "ok"));
    EXPECT_EQ(failed.kind, in_all ? hyp::FailureKind::timeout : hyp::FailureKind::hang);
    EXPECT_TRUE(failed.excused);
    EXPECT_EQ(trained(workers, 1, "ok").metrics, half);
  }
}

TEST_F(Workers, HaveTheirSecondsAndTheirLimitsHoweverLongOurCallerWaitsForItsDisk) {
  const auto slow_disk = [] { std::this_thread::sleep_for(std::chrono::milliseconds(2500)); };
  auto impatient = settings();
  impatient.trial_timeout = std::chrono::seconds(4);
  WorkerSet workers(impatient, stop);
  EXPECT_EQ(trained(workers, 0, "ok").metrics, half);
  slow_disk();
  EXPECT_GT(trained(workers, 1, "slow").seconds, 1.9);
  workers.start(trial(2, "hang"), lease());
  int commits = 0;
  for (; workers.busy() > 0 && commits < 6; ++commits) {
    slow_disk();
    workers.wait(std::chrono::milliseconds(100));
  }
  EXPECT_LE(commits, 3);
}

TEST_F(Workers, ThatBeginEachTrialWithGarbageFailIt) {
  WorkerSet workers(settings(), stop);
  EXPECT_EQ(trained(workers, 0, "ok").metrics, half);
  const auto failed = [&] { return std::get<NotTrained>(run(workers, 1, "begins with garbage")); };
  const auto first = failed();
  EXPECT_EQ(first.message, "it wrote a line that is no JSON object: hello");
  EXPECT_TRUE(first.excused) << "it may have been about the trial before";
  const auto second = failed();
  EXPECT_EQ(second.message, first.message);
  EXPECT_FALSE(second.excused);
}

TEST_F(Workers, ThatAnswerALaterTrialWithMetricsThatAreNoneFailIt) {
  WorkerSet workers(settings(), stop);
  EXPECT_EQ(trained(workers, 0, "ok").metrics, half);
  const auto failed = std::get<NotTrained>(run(workers, 1, "nan"));
  EXPECT_EQ(failed.message, "metric metrics/mAP_0.5:0.95 is not finite");
  EXPECT_FALSE(failed.excused);
  EXPECT_EQ(failed.epoch, 4) << "a whole training is behind it";
}

TEST_F(Workers, SeeTheirSlotAndNothingElse) {
  // A file that this process has open without care must not reach the worker.
  const int careless = ::open("/dev/null", O_RDONLY);
  ASSERT_GT(careless, 2);
  cpu_set_t set;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(set), &set), 0);
  int core = CPU_SETSIZE - 1;
  while (!CPU_ISSET(core, &set)) --core;

  WorkerSet workers(settings(), stop);
  workers.start(trial(0, "ok"), lease("cpu:1"));
  workers.start(trial(1, "looks around"),
                lease({.name = "cpu:0",
                       .environment = {{"OMP_NUM_THREADS", "7"}, {"CUDA_VISIBLE_DEVICES", ""}},
                       .cores = {core}}));
  ends(workers);
  const auto seen = json::parse(text(1, "look"));
  EXPECT_EQ(seen["cores"], json({core}));
  EXPECT_EQ(seen["environment"]["OMP_NUM_THREADS"], "7");
  EXPECT_EQ(seen["environment"]["CUDA_VISIBLE_DEVICES"], "");
  EXPECT_EQ(seen["environment"]["PATH"], ::getenv("PATH"));
  // Its three streams and the file that it reports to.
  EXPECT_EQ(seen["files"], json({0, 1, 2, 3}));
  EXPECT_EQ(seen["session"], pid(1));
  EXPECT_EQ(seen["group"], pid(1));
  EXPECT_EQ(seen["folder"], std::filesystem::current_path().string());
  EXPECT_EQ(seen["default_sigpipe"], true);
  ::close(careless);
}

TEST_F(Workers, AreStartedByProgramName) {
  auto by_name = settings();
  by_name.command = {"sh", "-c", "exec \"$0\" ready", FAKE_WORKER};
  WorkerSet workers(by_name, stop);
  EXPECT_EQ(trained(workers, 0, "ok").metrics, half);
}

TEST_F(Workers, ThatCannotBeExecutedAreAFailureBeforeAnyWasReady) {
  for (const std::string program : {"no-such-program-here", "./no/such/file", "/dev/null"}) {
    auto wrong = settings();
    wrong.command = {program};
    WorkerSet workers(wrong, stop);
    const auto ending = std::get<NotTrained>(run(workers, 0, "ok"));
    EXPECT_EQ(ending.kind, hyp::FailureKind::other);
    EXPECT_TRUE(ending.failed_before_ready);
    EXPECT_TRUE(ending.not_started);
    EXPECT_TRUE(ending.no_program);
    EXPECT_THAT(ending.message, testing::StartsWith("'" + program + "' cannot be started ("));
    EXPECT_FALSE(workers.ever_started());
    EXPECT_EQ(workers.busy(), 0);
    // Not even a dead child is left.
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  }
}

TEST_F(Workers, ThatCannotBeStartedNowAreNotSaidToBeNoProgram) {
  std::filesystem::copy_file(FAKE_WORKER, program());
  WorkerSet workers(vanishing(), stop);
  // As while it is being installed anew.
  const int written = ::open(program().c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_GE(written, 0);
  const auto ending = std::get<NotTrained>(run(workers, 0, "ok"));
  ::close(written);
  EXPECT_EQ(ending.message, "'" + program() + "' cannot be started (Text file busy)");
  EXPECT_TRUE(ending.failed_before_ready);
  EXPECT_FALSE(ending.no_program);
}

TEST_F(Workers, ThatCannotBeStartedWhereTooManyFilesAreOpenAreNotSaidToBeNoProgram) {
#ifdef EVOLVE_SANITIZED
  GTEST_SKIP() << "a sanitizer itself opens pipes and files in this process";
#endif
  WorkerSet workers(settings(), stop);
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const int first_free = ::dup(0);
  ::close(first_free);
  const rlimit few{static_cast<rlim_t>(first_free) + 1, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  const auto ending = std::get<NotTrained>(run(workers, 0, "ok"));
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(ending.message, "'" FAKE_WORKER "' cannot be started (Too many open files)");
  EXPECT_TRUE(ending.not_started);
  EXPECT_FALSE(ending.no_program);
  EXPECT_EQ(trained(workers, 0, "ok").metrics, half);
}

TEST_F(Workers, ThatCanNoLongerBeExecutedAreAFailureBeforeReady) {
  WorkerSet workers(vanishing(), stop);
  vanish(workers);
  EXPECT_TRUE(workers.ever_started());
  const auto ending = failure(workers, 1, "ok");
  EXPECT_TRUE(ending.failed_before_ready);
  EXPECT_EQ(ending.message, "'" + program() + "' cannot be started (No such file or directory)");
}

}  // namespace
}  // namespace evolve::workers

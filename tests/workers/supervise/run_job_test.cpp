#include "workers/supervise/run_job.hpp"

#include "core/error.hpp"
#include "tests/workers/fixture.hpp"

namespace evolve::workers {
namespace {

using hyp::FailureKind;
using testing::HasSubstr;

class RunJob : public Workers {
 protected:
  /// A training as this mode of the fake worker has it.
  JobEnd train(const std::string& mode, const std::string& start = "ready") {
    return run({.command = {FAKE_WORKER, start}, .hang_timeout = std::chrono::seconds(120)}, mode);
  }
  JobEnd run(const JobSettings& settings, const std::string& mode) {
    return run_job(
        settings, {.name = "cpu:0"},
        TrainingJob{
            .hyp = {{"lr0", 0.01}}, .dir = directory.path().string(), .options = {{"mode", mode}}},
        {.report =
             [this](const JobReport& report) {
               reports.push_back(report);
               if (on_report) on_report();
             },
         .log = [this](std::string_view bytes) { log += bytes; }},
        stop);
  }

  pid_t worker() const {
    std::ifstream stream(directory / "pid");
    pid_t id = 0;
    stream >> id;
    return id;
  }

  std::vector<JobReport> reports;
  std::function<void()> on_report;
  std::string log;
};

TEST_F(RunJob, HandsOverEveryReportAndTheLog) {
  const auto end = train("ok");
  EXPECT_FALSE(end.failure);
  EXPECT_FALSE(end.stopped);
  ASSERT_EQ(reports.size(), 5u);
  EXPECT_EQ(std::get<BatchReport>(reports[0]).epoch, 1);
  EXPECT_EQ(std::get<EpochReport>(reports[3]).training.epoch, 2);
  EXPECT_EQ(std::get<TrainingReport>(reports[4]).validation.labels, 3);
  EXPECT_EQ(log, "a word from the log\n");
  EXPECT_TRUE(is_gone(worker()));
}

TEST_F(RunJob, SendsTheJobOnceTheWorkerIsReady) {
  train("ok");
  std::ifstream stream(directory / "message");
  const auto message = nlohmann::json::parse(stream);
  EXPECT_EQ(message["type"], "train_run");
  EXPECT_EQ(message["dir"], directory.path().string());
}

TEST_F(RunJob, ValidatesToo) {
  const auto end =
      run_job({.command = {FAKE_WORKER}, .hang_timeout = {}}, {.name = "cpu:0"},
              ValidationJob{.dir = directory.path().string()},
              {.report = [this](const JobReport& report) { reports.push_back(report); },
               .log = [](std::string_view) {}},
              stop);
  EXPECT_FALSE(end.failure);
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(std::get<ValidationReport>(reports[0]).nms_ms, 2);
}

TEST_F(RunJob, EndsAWorkerThatIgnoresItsRequests) {
  EXPECT_FALSE(train("ok", "stays").failure);
  EXPECT_TRUE(is_gone(worker()));
}

TEST_F(RunJob, TellsTheWorkersOwnFailure) {
  const auto end = train("out of memory");
  ASSERT_TRUE(end.failure);
  EXPECT_EQ(end.failure->kind, FailureKind::oom);
  EXPECT_EQ(end.failure->message, "CUDA out of memory");
  EXPECT_EQ(reports.size(), 2u) << "what came before it";
  EXPECT_TRUE(is_gone(worker()));
}

TEST_F(RunJob, TellsHowAWorkerDied) {
  const auto crashed = train("crash");
  ASSERT_TRUE(crashed.failure);
  EXPECT_EQ(crashed.failure->kind, FailureKind::crash);
  EXPECT_EQ(crashed.failure->message, "exit code 3: RuntimeError: boom");
  EXPECT_EQ(train("killed").failure->message,
            "killed by signal 9 (SIGKILL): by somebody, or by the kernel for want of memory");
  EXPECT_EQ(train("ok", "dies at once").failure->message, "worker never became ready: exit code 5");
}

TEST_F(RunJob, FailsAWorkerThatTalksNonsense) {
  for (const auto& end : {train("garbage"), train("ok", "hello"), train("ok", "protocol 2"),
                          train("closes its output")}) {
    ASSERT_TRUE(end.failure);
    EXPECT_EQ(end.failure->kind, FailureKind::protocol) << end.failure->message;
  }
}

TEST_F(RunJob, FailsAWorkerThatIsSilentTooLong) {
  const JobSettings impatient{.command = {FAKE_WORKER}, .hang_timeout = std::chrono::seconds(5)};
  const auto end = run(impatient, "hang");
  ASSERT_TRUE(end.failure);
  EXPECT_EQ(end.failure->kind, FailureKind::hang);
  EXPECT_THAT(end.failure->message, HasSubstr("silent for 5 s"));
  EXPECT_TRUE(is_gone(worker()));
}

TEST_F(RunJob, IsInterruptedByARequestToStop) {
  on_report = [&] { stop.request(SIGINT); };
  const auto end = train("stubborn");
  EXPECT_TRUE(end.stopped);
  EXPECT_FALSE(end.failure);
  EXPECT_TRUE(is_gone(worker()));
}

TEST_F(RunJob, EndsWithWhatAnEventThrows) {
  on_report = [] { throw run_failed("the disk is full", "mend it"); };
  EXPECT_THROW(train("hang"), Error);
  EXPECT_TRUE(is_gone(worker()));
}

TEST_F(RunJob, NeedsAProgramThatExists) {
  EXPECT_THROW(run({.command = {"/nowhere/worker"}, .hang_timeout = {}}, "ok"), Error);
}

}  // namespace
}  // namespace evolve::workers

// What goes wrong in a real run costs what it must and no more; and no process is left behind.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <map>
#include <set>
#include <thread>

#include "process.hpp"

namespace evolve::test {
namespace {

/// "kind: message" of each trial that failed for good.
std::map<int, std::string> failures(const std::filesystem::path& run) {
  std::map<int, std::string> found;
  for (const auto& event : journal(run)) {
    if (event["event"] != "failed" || event["final"] != true) continue;
    found[event["trial"]] =
        event["kind"].get<std::string>() + ": " + event["message"].get<std::string>();
  }
  return found;
}

// A copy of evolve's file alone has no trial-reaper, and is its own.
TEST(Faults, AreReapedByTheProgramThatIsInstalledForThat) {
  namespace fs = std::filesystem;
  const auto reaper = fs::path(EVOLVE_BINARY).parent_path() / "trial-reaper";
  if (!fs::exists(reaper)) GTEST_SKIP() << "under the sanitizers it is not built";
  for (const bool installed : {true, false}) {
    Folder folder;
    fs::create_directories(folder / "bin");
    fs::create_directories(folder / "libexec/evolve");
    fs::copy_file(EVOLVE_BINARY, folder / "bin/evolve");
    if (installed) fs::copy_file(reaper, folder / "libexec/evolve/trial-reaper");
    auto command = evolve_command({"--trainer-command", fake_trainer("--sleep 60000"), "--devices",
                                   "cpu:0", "--output", "run"});
    command.front() = (folder / "bin/evolve").string();
    Process process(command, folder.path());
    const auto self = std::to_string(process.pid());
    const auto expected = folder / (installed ? "libexec/evolve/trial-reaper" : "bin/evolve");
    EXPECT_TRUE(eventually([&] {
      pid_t child = 0;
      std::ifstream("/proc/" + self + "/task/" + self + "/children") >> child;
      std::error_code gone;
      return child > 0 &&
             fs::read_symlink("/proc/" + std::to_string(child) + "/exe", gone) == expected;
    }));
    process.signal(SIGKILL);
    process.wait();
  }
}

TEST(Faults, AreNamedAndCostTheirTrialAlone) {
  Folder folder;
  const auto ended =
      evolve(folder.path(),
             {"--trainer-command",
              fake_trainer("--faults 1=abort,2=kill,3=hang,4=garbage,5=half,6=nan,7=missing,8=oom,"
                           "9=diverged,10=data,11=chatters"),
              "--devices", "cpu:0,cpu:1", "--trials", "16", "--population", "8", "--hang-timeout",
              "4s", "--trial-timeout", "12s", "--retries", "0", "--output", "run"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const std::map<int, std::string> expected = {
      {1, "crash: killed by signal 6 (SIGABRT)"},
      {2, "crash: killed by signal 9 (SIGKILL): by somebody, or by the kernel for want of memory"},
      {3, "hang: silent for 4 s; a longer --hang-timeout allows more"},
      {4, "protocol: it wrote a line that is no JSON object: Epoch 2/3: loss 0.5"},
      {5, "crash: exit code 0 without a result"},
      {6, "protocol: metric metrics/recall is no number"},
      {7, "protocol: metric metrics/recall is missing"},
      {8, "oom: as told"},
      {9, "diverged: as told"},
      {10, "data: as told"},
      {11, "timeout: not finished after 12 s"}};
  EXPECT_EQ(failures(folder / "run"), expected);
  // Failed is failed: no row, no fitness, and never the best.
  EXPECT_EQ(lines_of(read_file(folder / "run/evolve.csv")).size(), 1u + 5u);
  for (const auto& event : journal(folder / "run"))
    EXPECT_FALSE(event["event"] == "failed" && event.contains("fitness"));
  const auto trials = completed(folder / "run");
  EXPECT_EQ(trials, (std::set<int>{0, 12, 13, 14, 15}));
  const std::string words = "Recommended: trial ";
  const auto recommended = ended.out.find(words);
  ASSERT_NE(recommended, std::string::npos);
  EXPECT_TRUE(trials.contains(std::stoi(ended.out.substr(recommended + words.size()))));
}

TEST(Faults, OfEveryTrialLeaveNoBest) {
  Folder folder;
  const auto ended = evolve(
      folder.path(), {"--trainer-command", fake_trainer("--faults 0=oom,1=abort"), "--devices",
                      "cpu:0", "--trials", "2", "--retries", "0", "--output", "run"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(ended.err,
            "evolve: every trial failed, the first one with: as told; see run/trials/000000/log\n");
  EXPECT_EQ(lines_of(read_file(folder / "run/evolve.csv")).size(), 1u);
  EXPECT_FALSE(std::filesystem::exists(folder / "run/hyp_evolved.yaml"));
}

TEST(Faults, OfATrainerThatNeverGetsReadyEndTheRunWith1) {
  Folder folder;
  const auto ended =
      evolve(folder.path(), {"--trainer-command", FAKE_WORKER + std::string(" 'never ready'"),
                             "--devices", "cpu:0", "--trials", "1", "--retries", "0",
                             "--hang-timeout", "1s", "--output", "run"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(ended.err,
            "evolve: no worker became ready in 5 attempts in a row: not ready for 1 s; a longer "
            "--hang-timeout allows more; mend it and go on with: evolve --resume run\n");
  EXPECT_EQ(failures(folder / "run").size(), 0U) << "it was not the trial's fault";
}

TEST(Faults, OfATrainerThatIgnoresItsShutdownLeaveNoProcess) {
  Folder folder;
  const auto ended =
      evolve(folder.path(), {"--trainer-command", FAKE_WORKER + std::string(" stays"), "--devices",
                             "cpu:0", "--trials", "2", "--output", "run"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_FALSE(alive(std::stoi(read_file(folder / "run/trials/000001/pid"))));
}

// Each is `yes` once it has its first trial.
TEST(Faults, OfTrainersThatNeverPauseForBreathLeaveTimeLimitsAndCtrlC) {
  Folder folder;
  write_file(folder / "trainer.sh", R"(echo '{"type":"ready","protocol":1}'
read order
trial=${order#*\"trial\":}
exec yes "{\"type\":\"alive\",\"trial\":${trial%%,*}}"
)");
  Process process(evolve_command({"--trainer-command", "sh " + (folder / "trainer.sh").string(),
                                  "--devices", "npu:0,npu:1,npu:2,npu:3", "--trials", "1000",
                                  "--trial-timeout", "10s", "--retries", "0", "--output", "run"}),
                  folder.path());
  ASSERT_TRUE(eventually([&] {
    return std::filesystem::exists(folder / "run/journal.jsonl") &&
           count(journal(folder / "run"), "failed") >= 4;
  }));
  process.signal(SIGINT);
  EXPECT_EQ(process.wait().code, 130);
  for (const auto& event : journal(folder / "run")) {
    if (event["event"] != "failed") continue;
    EXPECT_EQ(event["message"], "not finished after 10 s");
  }
}

/// A trainer with a loader that has left its session and wrote its pid to `file`.
std::string with_loader(const Folder& folder, const std::string& file) {
  write_file(folder / "loader.sh", "echo $$ >" + file + "\nexec sleep 1000\n");
  write_file(folder / "trainer.sh", "setsid sh " + (folder / "loader.sh").string() + " &\nexec " +
                                        fake_trainer("--sleep 50") + "\n");
  return "sh " + (folder / "trainer.sh").string();
}

TEST(Loaders, OfATrainerEndWithARunHoweverItEnds) {
  for (const int signal : {0, SIGINT, SIGTERM, SIGKILL}) {
    Folder folder;
    const auto file = (folder / "loader").string();
    Process process(
        evolve_command({"--trainer-command", with_loader(folder, file), "--devices", "cpu:0",
                        "--trials", signal == 0 ? "3" : "1000", "--output", "run"}),
        folder.path());
    ASSERT_TRUE(eventually([&] {
      return read_file(file).ends_with("\n") && count(journal(folder / "run"), "completed") > 0;
    }));
    const int loader = std::stoi(read_file(file));
    if (signal != 0) {
      EXPECT_TRUE(alive(loader));
      process.signal(signal);
    }
    const auto ended = process.wait();
    EXPECT_EQ(ended.code, signal == 0 ? 0 : 128 + signal) << ended.err;
    EXPECT_TRUE(eventually([&] { return !alive(loader); })) << signal;
  }
}

TEST(Stopped, RunsHoldTheTimeAgainstNoWorker) {
  for (const bool workers_too : {false, true}) {
    Folder folder;
    const auto log = folder / "log";
    Process process(
        evolve_command({"--trainer-command", fake_trainer("--sleep 100 --log " + log.string()),
                        "--devices", "cpu:0,cpu:1", "--trials", "20", "--population", "10",
                        "--hang-timeout", "4s", "--trial-timeout", "5s", "--output", "run"}),
        folder.path());
    ASSERT_TRUE(eventually([&] { return count(journal(folder / "run"), "completed") > 2; }));
    process.signal(SIGSTOP);
    const auto workers = workers_too ? pids(log) : std::set<int>();
    for (const int worker : workers) ::kill(worker, SIGSTOP);
    std::this_thread::sleep_for(std::chrono::seconds(6));
    process.signal(SIGCONT);
    // Time enough to find them silent: twice as long as evolve waits for news.
    std::this_thread::sleep_for(std::chrono::seconds(1));
    for (const int worker : workers) ::kill(worker, SIGCONT);
    const auto ended = process.wait();
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(count(journal(folder / "run"), "failed"), 0);
    EXPECT_EQ(pids(log).size(), 2u) << "a worker was replaced";
  }
}

}  // namespace
}  // namespace evolve::test

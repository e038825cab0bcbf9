// The main job with an external trainer, as real processes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <map>
#include <set>
#include <sstream>

#include "process.hpp"

namespace evolve::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::vector<std::string> columns(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, ',');) {
    cells.push_back(cell.substr(cell.find_first_not_of(' ')));
  }
  return cells;
}

TEST(Run, LeavesEveryFileOfARunDirectory) {
  Folder folder;
  const auto ended =
      evolve(folder.path(), {"--trainer-command", fake_trainer(), "--devices", "cpu:0,cpu:1",
                             "--generations", "3", "--population", "6"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto run = folder / "runs/evolve/exp";

  const auto events = journal(run);
  EXPECT_EQ(events[0]["event"], "run");
  EXPECT_EQ(events[0]["version"], 1);
  EXPECT_EQ(events[0]["slots"], (std::vector<std::string>{"cpu:0", "cpu:1"}));
  EXPECT_EQ(count(events, "started"), 18);
  EXPECT_EQ(count(events, "completed"), 18);

  const auto csv = lines_of(read_file(run / "evolve.csv"));
  ASSERT_EQ(csv.size(), 19u);
  const auto header = columns(csv[0]);
  ASSERT_EQ(header.size(), 7u + 29u);
  EXPECT_EQ(header[0], "metrics/precision");
  EXPECT_EQ(header[3], "metrics/mAP_0.5:0.95");
  EXPECT_EQ(header[7], "lr0");
  for (const auto& line : csv) EXPECT_EQ(columns(line).size(), header.size());

  EXPECT_THAT(read_file(run / "hyp_evolved.yaml"),
              HasSubstr("# YOLOv5 Hyperparameter Evolution Results\n# Best generation: "));
  EXPECT_THAT(read_file(run / "evolve_population.yaml"), HasSubstr("number0:\n"));
  EXPECT_EQ(read_file(run / "evolve.png").substr(1, 3), "PNG");
  EXPECT_THAT(read_file(run / "opt.yaml"), HasSubstr("population: 6\n"));
  for (int trial = 0; trial < 18; ++trial) {
    char name[32];
    std::snprintf(name, sizeof name, "trials/%06d", trial);
    EXPECT_TRUE(std::filesystem::is_directory(run / name)) << name;
  }
}

// Without a model of luck, as the classic search is.
TEST(Run, IsDrawnAgainAsItDrewItself) {
  Folder folder;
  finish_trials(folder, 6);
  const auto own = read_file(folder / "run/evolve.png");
  for (const std::string named : {"run", "run/evolve.csv"}) {
    std::filesystem::remove(folder / "run/evolve.png");
    const auto ended = evolve(folder.path(), {"plot", named});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.out, "run/evolve.png\n");
    EXPECT_EQ(read_file(folder / "run/evolve.png"), own) << named;
  }
  std::filesystem::copy(folder / "run/evolve.csv", folder / "evolve.csv");
  EXPECT_EQ(evolve(folder.path(), {"plot", "evolve.csv"}).out, "evolve.png\n");
  EXPECT_NE(read_file(folder / "evolve.png"), own) << "nobody knows what was recommended";
}

TEST(Run, ItsBestIsTheFirstRowOfGreatestFitnessAndBeatsTheStart) {
  Folder folder;
  const auto ended = evolve(
      folder.path(), {"--search", "classic", "--trainer-command", fake_trainer(), "--devices",
                      "cpu:0", "--generations", "6", "--population", "10", "--output", "run"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  double best = -1, start = 0;
  int best_trial = -1;
  nlohmann::json best_hyp;
  std::map<int, nlohmann::json> hyps;
  for (const auto& event : journal(folder / "run")) {
    if (event["event"] == "started") hyps[event["trial"]] = event["hyp"];
    if (event["event"] != "completed") continue;
    const double fitness = event["fitness"];
    if (event["trial"] == 0) start = fitness;
    if (fitness > best) {
      best = fitness;
      best_trial = event["trial"];
      best_hyp = hyps[best_trial];
    }
  }
  EXPECT_GT(best, start);
  EXPECT_THAT(ended.out, HasSubstr("Recommended: trial " + std::to_string(best_trial) + ", "));
  const auto evolved = read_file(folder / "run/hyp_evolved.yaml");
  for (const auto& [name, value] : best_hyp.items()) {
    const auto at = evolved.find("\n" + name + ": ");
    ASSERT_NE(at, std::string::npos) << name;
    EXPECT_EQ(std::stod(evolved.substr(at + name.size() + 3)), value.get<double>()) << name;
  }
}

TEST(Run, TheHeaderOfWhatIsRecommendedCountsTheRowsWhileItGoesOn) {
  Folder folder;
  write_file(folder / "space.yaml", "unheeded: [0, 1]\n");
  Process process(evolve_command({"--search", "classic", "--space", "space.yaml",
                                  "--trainer-command", fake_trainer("--faults 4=hang"), "--devices",
                                  "cpu:0", "--trials", "5", "--output", "run"}),
                  folder.path());
  const auto recommended = folder / "run/hyp_evolved.yaml";
  EXPECT_TRUE(eventually([&] {
    return std::filesystem::exists(recommended) &&
           read_file(recommended).find("# Best generation: 0\n# Last generation: 3\n") !=
               std::string::npos;
  })) << read_file(recommended);
  process.signal(SIGINT);
  EXPECT_EQ(process.wait().code, 130);
}

TEST(Run, TheSameSeedGivesTheSameRows) {
  Folder folder;
  for (const auto* name : {"a", "b"}) {
    ASSERT_EQ(evolve(folder.path(),
                     {"--trainer-command", fake_trainer(), "--devices", "cpu:0", "--trials", "30",
                      "--population", "5", "--seed", "7", "--output", name})
                  .code,
              0);
  }
  EXPECT_EQ(read_file(folder / "a/evolve.csv"), read_file(folder / "b/evolve.csv"));
}

TEST(Run, BothSlotsWorkInOneLongLivedWorkerEach) {
  Folder folder;
  const auto log = (folder / "log").string();
  ASSERT_EQ(
      evolve(folder.path(), {"--trainer-command", fake_trainer("--sleep 20 --log " + log),
                             "--devices", "cpu:0,cpu:1", "--trials", "20", "--population", "10"})
          .code,
      0);
  std::map<std::string, std::set<std::string>> pids;
  for (const auto& line : lines_of(read_file(log))) {
    std::istringstream in(line);
    std::string pid, trial, device, threads;
    in >> pid >> trial >> device >> threads;
    pids[device].insert(pid);
    EXPECT_EQ(threads, "1");
  }
  ASSERT_EQ(pids.size(), 2u);
  EXPECT_EQ(pids["cpu:0"].size(), 1u);
  EXPECT_EQ(pids["cpu:1"].size(), 1u);
}

TEST(Run, AFailedTrialIsTriedAgainElsewhereAndThenHasNoRow) {
  Folder folder;
  const auto ended =
      evolve(folder.path(),
             {"--trainer-command", fake_trainer("--crash-trial 3"), "--devices", "cpu:0,cpu:1",
              "--trials", "8", "--population", "8", "--retries", "1", "--output", "run"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  std::vector<nlohmann::json> failures;
  for (const auto& event : journal(folder / "run")) {
    if (event["event"] == "failed") failures.push_back(event);
  }
  ASSERT_EQ(failures.size(), 2u);
  EXPECT_EQ(failures[0]["trial"], 3);
  EXPECT_EQ(failures[0]["kind"], "crash");
  EXPECT_EQ(failures[0]["final"], false);
  EXPECT_EQ(failures[1]["final"], true);
  EXPECT_EQ(failures[1]["attempt"], 2);
  EXPECT_NE(failures[0]["device"], failures[1]["device"]);
  EXPECT_EQ(failures[1]["log"], "trials/000003/log");
  EXPECT_THAT(read_file(folder / "run/trials/000003/log"), HasSubstr("simulated crash of trial 3"));
  EXPECT_EQ(lines_of(read_file(folder / "run/evolve.csv")).size(), 1u + 7u);
}

TEST(Run, ExitsWith1AndTheFirstReasonWhenEveryTrialFailed) {
  Folder folder;
  const auto ended = evolve(
      folder.path(), {"--trainer-command", fake_trainer("--crash-always"), "--devices", "cpu:0",
                      "--trials", "3", "--retries", "0", "--lag", "1", "--output", "run"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("exit code 7"));
  EXPECT_THAT(ended.err, HasSubstr("trials/000000/log"));
  EXPECT_EQ(count(journal(folder / "run"), "failed"), 3);
}

TEST(Run, CtrlCSavesSaysHowToGoOnAndExits130) {
  Folder folder;
  Process process(evolve_command({"--trainer-command", fake_trainer("--sleep 100"), "--devices",
                                  "cpu:0,cpu:1", "--output", "run"}),
                  folder.path());
  ASSERT_TRUE(
      eventually([&] { return lines_of(read_file(folder / "run/evolve.csv")).size() > 3; }));
  process.signal(SIGINT);
  const auto ended = process.wait(60);
  EXPECT_EQ(ended.code, 130);
  EXPECT_THAT(ended.out, HasSubstr("evolve --resume run"));
  EXPECT_GE(count(journal(folder / "run"), "completed"), 3);
}

TEST(Run, StopsInGoodOrderOnSigtermAndWhenItsTerminalIsClosed) {
  for (const auto& [signal, code] : {std::pair(SIGTERM, 143), std::pair(SIGHUP, 129)}) {
    Folder folder;
    Process process(evolve_command({"--trainer-command", fake_trainer("--sleep 100"), "--devices",
                                    "cpu:0", "--output", "run"}),
                    folder.path());
    ASSERT_TRUE(
        eventually([&] { return lines_of(read_file(folder / "run/evolve.csv")).size() > 1; }));
    process.signal(signal);
    const auto ended = process.wait(60);
    EXPECT_EQ(ended.code, code);
    EXPECT_THAT(ended.out, HasSubstr("evolve --resume run"));
  }
}

TEST(Run, OutlivesItsTerminalUnderNohup) {
  Folder folder;
  std::vector<std::string> command =
      evolve_command({"--trainer-command", fake_trainer("--sleep 20"), "--devices", "cpu:0",
                      "--trials", "40", "--output", "run"});
  command.insert(command.begin(), "/usr/bin/nohup");
  Process process(command, folder.path());
  ASSERT_TRUE(
      eventually([&] { return lines_of(read_file(folder / "run/evolve.csv")).size() > 1; }));
  process.signal(SIGHUP);
  EXPECT_EQ(process.wait().code, 0);
  EXPECT_EQ(count(journal(folder / "run"), "completed"), 40);
}

// As a shell without job control starts it with &.
TEST(Run, LeavesSignalsAloneThatItWasStartedToIgnore) {
  Folder folder;
  auto command = evolve_command({"--trainer-command", fake_trainer("--sleep 20"), "--devices",
                                 "cpu:0", "--trials", "40", "--output", "run"});
  const std::vector<std::string> ignoring = {"/bin/sh", "-c", "trap '' INT TERM; exec \"$@\"",
                                             "sh"};
  command.insert(command.begin(), ignoring.begin(), ignoring.end());
  Process process(command, folder.path());
  ASSERT_TRUE(
      eventually([&] { return lines_of(read_file(folder / "run/evolve.csv")).size() > 1; }));
  process.signal(SIGINT);
  process.signal(SIGTERM);
  EXPECT_EQ(process.wait().code, 0);
  EXPECT_EQ(count(journal(folder / "run"), "completed"), 40);
}

TEST(Run, StopsStartingTrialsAtTheTimeLimit) {
  Folder folder;
  const auto ended =
      evolve(folder.path(), {"--trainer-command", fake_trainer("--sleep 50"), "--devices", "cpu:0",
                             "--time-limit", "1s", "--output", "run"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  const auto events = journal(folder / "run");
  EXPECT_EQ(count(events, "started"), count(events, "completed"));
  EXPECT_LT(count(events, "completed"), 100);
  EXPECT_THAT(ended.out, HasSubstr("time limit"));
}

TEST(Run, CountsUpRunDirectories) {
  Folder folder;
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(evolve(folder.path(),
                     {"--trainer-command", fake_trainer(), "--devices", "cpu:0", "--trials", "1"})
                  .code,
              0);
  }
  EXPECT_TRUE(std::filesystem::exists(folder / "runs/evolve/exp/evolve.csv"));
  EXPECT_TRUE(std::filesystem::exists(folder / "runs/evolve/exp2/evolve.csv"));
}

// A run that is killed leaves what it knew to another one, within its first generation too.
TEST(Run, HasItsPopulationInItsFileWhileItGoesOn) {
  Folder folder;
  Process process(evolve_command({"--trainer-command", fake_trainer("--sleep 20"), "--devices",
                                  "cpu:0", "--trials", "200", "--output", "run"}),
                  folder.path());
  ASSERT_TRUE(eventually([&] { return count(journal(folder / "run"), "completed") >= 8; }));
  process.signal(SIGKILL);
  process.wait();
  EXPECT_THAT(read_file(folder / "run/evolve_population.yaml"), HasSubstr("gen0number4:\n"));
}

TEST(Run, StartsFromAPopulationOfAnotherRun) {
  Folder folder;
  const std::vector<std::string> common = {"--trainer-command", fake_trainer(), "--devices",
                                           "cpu:0"};
  auto first = common;
  first.insert(first.end(), {"--generations", "2", "--population", "4", "--output", "a"});
  ASSERT_EQ(evolve(folder.path(), first).code, 0);
  auto second = common;
  second.insert(second.end(),
                {"--trials", "5", "--resume_evolve", "a/evolve_population.yaml", "--output", "b"});
  const auto ended = evolve(folder.path(), second);
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto population = read_file(folder / "a/evolve_population.yaml");
  for (const auto& event : journal(folder / "b")) {
    if (event["event"] != "started" || event["trial"] == 0) continue;
    if (event["trial"].get<int>() > 2) continue;
    const double scale = event["hyp"]["scale"];
    EXPECT_THAT(population, HasSubstr("scale: " + nlohmann::json(scale).dump()));
  }
}

TEST(Run, OfWhichEveryTrialFailedUntilTheTimeLimitHasFailed) {
  Folder folder;
  const auto ended =
      evolve(folder.path(),
             {"--trainer-command", fake_trainer("--crash-always --sleep 200"), "--devices", "cpu:0",
              "--retries", "0", "--trials", "9", "--time-limit", "2s", "--output", "run"});
  EXPECT_EQ(ended.code, 1) << ended.out;
  EXPECT_THAT(ended.err, HasSubstr("nothing could be trained in "));
  EXPECT_THAT(ended.err, ContainsRegex("in [0-9]+ attempts? in a row: exit code 7"));
}

TEST(Run, HasAsManyTrialsAsAskedForWhateverTheGenerationsSay) {
  Folder folder;
  const auto ended = evolve(
      folder.path(), {"--trainer-command", fake_trainer(), "--devices", "cpu:0", "--generations",
                      "1", "--population", "2", "--trials", "5", "--output", "run"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, StartsWith("5 trials on 1 slot: cpu:0\n"));
  EXPECT_EQ(count(journal(folder / "run"), "completed"), 5);
}

TEST(Run, KeepsItsJournalToItselfWhereTheStandardStreamsAreClosed) {
  Folder folder;
  std::vector<std::string> command = {"/bin/sh", "-c", "exec \"$@\" <&- >&- 2>&-", "sh"};
  const auto words = evolve_command({"--trainer-command", fake_trainer(), "--devices", "cpu:0",
                                     "--trials", "3", "--output", "run"});
  command.insert(command.end(), words.begin(), words.end());
  EXPECT_EQ(Process(command, folder.path()).wait().code, 0);
  EXPECT_EQ(count(journal(folder / "run"), "completed"), 3);
}

TEST(Evolve, ToldToIgnoreTheEndsOfItsChildrenSeesThem) {
  Folder folder;
  auto command = evolve_command({"--trainer-command", fake_trainer(), "--devices", "cpu:0",
                                 "--trials", "2", "--output", "run"});
  ASSERT_EQ(Process(command, folder.path()).wait().code, 0);
  command = evolve_command({"plot", "run"});
  command.insert(command.begin(), {"/usr/bin/env", "--ignore-signal=CHLD"});
  const auto ended = Process(command, folder.path()).wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
}

TEST(Run, OfMoreThanAHundredRowsRecommendsByAllOfThemAtItsEnd) {
  Folder folder;
  const auto ended = evolve(folder.path(), {"--trainer-command", fake_trainer("--noise"),
                                            "--devices", "gcu:0,gcu:1,gcu:2,gcu:3", "--device-env",
                                            "GCU", "--trials", "110", "--output", "run"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(read_file(folder / "run/hyp_evolved.yaml"), HasSubstr("# Last generation: 109\n"));
}

}  // namespace
}  // namespace evolve::test

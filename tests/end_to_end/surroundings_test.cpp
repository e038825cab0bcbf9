// What surrounds a run fails: nothing of it is held against a trial, and the run goes on once it is
// mended.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <thread>

#include "process.hpp"

namespace evolve::test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;
namespace fs = std::filesystem;

int final_failures(const fs::path& run) {
  int count = 0;
  for (const auto& event : journal(run))
    count += event["event"] == "failed" && event["final"] == true;
  return count;
}

/// Waits until some trials of the run have completed.
bool has_begun(const Folder& folder) {
  return eventually([&] { return count(journal(folder / "run"), "completed") >= 3; });
}

/// A run of 20 trials on two slots with this trainer.
Process begin(const Folder& folder, const std::string& trainer,
              std::vector<std::string> more = {}) {
  std::vector<std::string> words = {"--trainer-command", trainer, "--devices", "cpu:0,cpu:1",
                                    "--trials",          "20",    "--retries", "0",
                                    "--output",          "run"};
  words.insert(words.end(), more.begin(), more.end());
  return Process(evolve_command(words), folder.path());
}

/// The run was ended by its surroundings; now they are mended, and every trial is still there.
void expect_all_on_resume(const Folder& folder) {
  EXPECT_EQ(final_failures(folder / "run"), 0);
  EXPECT_LE(count(journal(folder / "run"), "failed"), 8) << "a few, not all";
  const auto resumed = evolve(folder.path(), {"--resume", "run"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(completed(folder / "run").size(), 20U);
  EXPECT_EQ(final_failures(folder / "run"), 0);
}

/// The files of the run in the folder, by their names.
std::map<std::string, std::string> files_of_run(const Folder& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator(folder / "run"))
    if (entry.is_regular_file())
      files.emplace(entry.path().filename().string(), read_file(entry.path()));
  return files;
}

/// Somebody has moved the run's folder away, forgotten that it still runs, and begun another one
/// there.
void begin_another(const Folder& folder) {
  fs::rename(folder / "run", folder / "moved");
  finish_trials(folder, 3);
}

/// What the run whose folder it was says, and that it has written nothing there.
void expect_left_alone(const Folder& folder, const Ended& ended,
                       const std::map<std::string, std::string>& files) {
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err,
              HasSubstr("journal.jsonl: somebody has moved or removed it, or put another "
                        "file in its place; bring it back, or restore it from a copy"));
  EXPECT_EQ(files_of_run(folder), files);
}

TEST(Surroundings, AFolderThatIsAnotherRunsNowIsLeftAlone) {
  Folder folder;
  auto process = begin(folder, fake_trainer("--sleep 2000"));
  ASSERT_TRUE(eventually([&] { return count(journal(folder / "run"), "started") >= 4; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));  // what the last one left is written
  begin_another(folder);
  const auto files = files_of_run(folder);
  expect_left_alone(folder, process.wait(), files);
}

TEST(Surroundings, AFolderAboveThatIsRenamedEndsTheRunWhichGoesOnThere) {
  Folder folder;
  fs::create_directory(folder / "project");
  Process process(evolve_command({"--trainer-command", fake_trainer("--sleep 500"), "--devices",
                                  "cpu:0", "--trials", "10", "--output", "run"}),
                  folder / "project");
  ASSERT_TRUE(eventually([&] { return count(journal(folder / "project/run"), "completed") >= 2; }));
  fs::rename(folder / "project", folder / "renamed");
  const auto ended = process.wait();
  EXPECT_EQ(ended.code, 1) << ended.out;
  EXPECT_THAT(ended.err, AnyOf(HasSubstr("journal.jsonl: somebody has moved or removed it"),
                               HasSubstr("bring its folder back")))
      << "whichever it writes to first";
  EXPECT_FALSE(fs::exists(folder / "project")) << "another project may begin there";
  EXPECT_EQ(evolve(folder / "renamed", {"--resume", "run"}).code, 0);
  EXPECT_EQ(completed(folder / "renamed/run").size(), 10U);
}

TEST(Surroundings, AFolderThatIsAnotherRunsNowIsLeftAloneByARunThatIsInterrupted) {
  Folder folder;
  auto process = begin(folder, fake_trainer("--sleep 2000"));
  ASSERT_TRUE(eventually([&] { return count(journal(folder / "run"), "started") >= 4; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));  // what the last one left is written
  process.signal(SIGSTOP);  // it notices nothing before it is interrupted
  begin_another(folder);
  const auto files = files_of_run(folder);
  process.signal(SIGTERM);
  process.signal(SIGCONT);
  expect_left_alone(folder, process.wait(), files);
}

TEST(Surroundings, ADataSetThatDisappearsEndsTheRunAndBurnsNoTrial) {
  Folder folder;
  const auto data = (folder / "data.yaml").string();
  write_file(data, "train: images\n");
  auto process = begin(folder, fake_trainer("--sleep 50 --needs " + data), {"--data", data});
  ASSERT_TRUE(has_begun(folder));
  fs::remove(data);
  const auto ended = process.wait();
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, StartsWith("evolve: nothing could be trained in "));
  EXPECT_THAT(ended.err, HasSubstr(data + ": No such file or directory; mend it and go on with: "
                                          "evolve --resume run\n"));
  const auto refused = evolve(folder.path(), {"--resume", "run"});
  EXPECT_EQ(refused.code, 2) << "looked at again before anything trains";
  EXPECT_THAT(refused.err, HasSubstr(data + ": No such file or directory"));
  write_file(data, "train: images\n");
  expect_all_on_resume(folder);
}

TEST(Surroundings, DataThatOnlyTheTrainerKnowsEndTheRunAndBurnNoTrial) {
  Folder folder;
  const auto data = (folder / "secret").string();
  write_file(data, "");
  auto process = begin(folder, fake_trainer("--sleep 50 --needs " + data));
  ASSERT_TRUE(has_begun(folder));
  fs::remove(data);
  const auto ended = process.wait();
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("in a row: " + data + " is gone; mend it"));
  write_file(data, "");
  expect_all_on_resume(folder);
}

TEST(Surroundings, AFailureOfDataThatOnlyOneTrialHasIsThatTrials) {
  Folder folder;
  const auto ended = begin(folder, fake_trainer("--faults 4=data")).wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(completed(folder / "run").size(), 19U);
  EXPECT_EQ(final_failures(folder / "run"), 1);
  int attempts = 0;
  for (const auto& event : journal(folder / "run"))
    attempts += event["event"] == "started" && event["trial"] == 4;
  EXPECT_EQ(attempts, 1) << "it would repeat";
}

// The last trial, and any one where the next waits for its outcome.
TEST(Surroundings, AFailureOfDataIsThatTrialsAlsoWhereNoOtherCanTell) {
  for (const std::string trial : {"1", "5"}) {
    Folder folder;
    const auto trainer = fake_trainer("--chatter 99 --epochs " + (folder / "epochs").string() +
                                      " --faults " + trial + "=data");
    const auto ended =
        evolve(folder.path(), {"--trainer-command", trainer, "--devices", "cpu:0", "--trials", "6",
                               "--epochs", "3", "--lag", "1", "--output", "run"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(completed(folder / "run").size(), 5U);
    EXPECT_EQ(final_failures(folder / "run"), 1);
    EXPECT_EQ(count(journal(folder / "run"), "probed"), 1);
    const auto of_probed = folder / "run/trials/000000";
    EXPECT_EQ(read_file(of_probed / "log").size(), 100U) << "of its own training alone";
    EXPECT_EQ(read_file(of_probed / "probe/log").size(), 100U);
    const auto epochs = lines_of(read_file(folder / "epochs"));
    EXPECT_EQ(std::ranges::count(epochs, "0 1"), 2) << "one further than the failed one had come";
    EXPECT_EQ(std::ranges::count(epochs, "0 2"), 1);
  }
}

// Trial 1 is paused when trial 0 fails, and with the lag nothing starts before that is final.
TEST(Surroundings, AFailureOfDataIsThatTrialsAlsoWhereTheOnlyOtherIsPaused) {
  Folder folder;
  write_file(folder / "trainer.py", R"(
import json, sys, time
say = lambda **message: print(json.dumps(message), flush=True)
names = ["metrics/precision", "metrics/recall", "metrics/mAP_0.5", "metrics/mAP_0.5:0.95"]
metrics = dict.fromkeys(names + ["val/box_loss", "val/obj_loss", "val/cls_loss"], 0.1)
say(type="ready", protocol=1, device="cpu", can_pause=True)
while (order := json.loads(sys.stdin.readline()))["type"] == "train":
    trial, paused = order["trial"], False
    if trial == 0:
        time.sleep(1)
        say(type="error", trial=0, kind="data", message="no such image")
        continue
    for epoch in range(order.get("start_epoch", 0) + 1, order["epochs"] + 1):
        say(type="epoch", trial=trial, epoch=epoch, metrics=metrics)
        if epoch in order["rungs"] and json.loads(sys.stdin.readline())["type"] == "pause":
            paused = True
            break
    say(type="result", trial=trial, metrics=metrics, **({"paused": True} if paused else {}))
)");
  const auto ended = evolve(
      folder.path(), {"--trainer-command", "python3 trainer.py", "--devices", "cpu:0,cpu:1",
                      "--max-epochs", "60", "--epochs", "9", "--lag", "2", "--output", "run"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(final_failures(folder / "run"), 1);
  EXPECT_EQ(count(journal(folder / "run"), "probed"), 1);
}

// Another one is tried in between, or where that waits for its outcome a completed one once more.
TEST(Surroundings, AFailureThatOneTrialAlwaysHasIsThatTrialsAlsoOnTheOnlyDevice) {
  for (const std::string fault : {"device_lost", "full"}) {
    for (const std::string lag : {"1", "9"}) {
      Folder folder;
      const auto ended = evolve(
          folder.path(), {"--trainer-command", fake_trainer("--faults 2=" + fault), "--devices",
                          "npu:0", "--lag", lag, "--trials", "6", "--output", "run"});
      EXPECT_EQ(ended.code, 0) << ended.err;
      EXPECT_EQ(completed(folder / "run").size(), 5U) << fault << " with lag " << lag;
      EXPECT_EQ(final_failures(folder / "run"), 1);
    }
  }
}

// While one that failed is open, a lag lets no other begin.
TEST(Surroundings, AreAskedAboutWhereARepeatFailsOnTheOnlyDevice) {
  Folder folder;
  const auto data = (folder / "secret").string();
  write_file(data, "");
  Process process(
      evolve_command({"--trainer-command", fake_trainer("--sleep 200 --needs " + data), "--devices",
                      "cpu:0", "--lag", "1", "--trials", "9", "--repeats", "5", "--output", "run"}),
      folder.path());
  ASSERT_TRUE(eventually([&] { return count(journal(folder / "run"), "repeating") > 0; }));
  fs::rename(data, folder / "away");
  ASSERT_TRUE(eventually([&] { return count(journal(folder / "run"), "repeat_failed") > 0; }));
  fs::rename(folder / "away", data);
  const auto ended = process.wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_GE(count(journal(folder / "run"), "probed"), 1);
  EXPECT_EQ(count(journal(folder / "run"), "repeated"), 4) << "it failed alone";
}

TEST(Surroundings, AreAskedAboutAloneThoughADeviceComesMeanwhile) {
  Folder folder;
  Process process(
      evolve_command({"--trainer-command", fake_trainer("--sleep 300 --faults 2=full"), "--devices",
                      "npu:0", "--lag", "1", "--trials", "6", "--output", "run"}),
      folder.path());
  ASSERT_TRUE(eventually([&] { return count(journal(folder / "run"), "failed") > 0; }));
  write_file(folder / "run/devices", "npu:0\nnpu:1\n");
  const auto ended = process.wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(completed(folder / "run").size(), 5U);
  EXPECT_EQ(final_failures(folder / "run"), 1);
}

TEST(Surroundings, ThatAreInOrderAreNotToBlameThoughElevenTrialsFailInARow) {
  Folder folder;
  std::string faults = "1=kill";
  for (int trial = 2; trial <= 11; ++trial) faults += fmt::format(",{}=kill", trial);
  const auto ended = evolve(
      folder.path(), {"--trainer-command", fake_trainer("--faults " + faults), "--devices", "cpu:0",
                      "--lag", "1", "--trials", "13", "--retries", "0", "--output", "run"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(completed(folder / "run"), (std::set{0, 12}));
  EXPECT_EQ(final_failures(folder / "run"), 11);
}

TEST(Surroundings, ATrainerThatDisappearsEndsTheRunAndBurnsNoTrial) {
  Folder folder;
  const auto program = folder / "trainer";
  fs::copy_file(FAKE_TRAINER_BINARY, program);
  auto process = begin(folder, program.string() + " --sleep 50 --once");
  ASSERT_TRUE(has_begun(folder));
  fs::remove(program);
  const auto ended = process.wait();
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, StartsWith("evolve: no worker became ready in "));
  EXPECT_THAT(ended.err, HasSubstr("cannot be started (No such file or directory); mend it"));
  fs::copy_file(FAKE_TRAINER_BINARY, program);
  expect_all_on_resume(folder);
}

TEST(Surroundings, ATrainerThatIsAwayForAMomentIsHeldAgainstNoDevice) {
  Folder folder;
  const auto program = folder / "trainer";
  fs::copy_file(FAKE_TRAINER_BINARY, program);
  Process process(evolve_command({"--trainer-command", program.string() + " --sleep 50 --once",
                                  "--devices", "npu:0,npu:1", "--trials", "20", "--output", "run"}),
                  folder.path());
  ASSERT_TRUE(has_begun(folder));
  fs::rename(program, folder / "away");
  ASSERT_TRUE(eventually([&] { return count(journal(folder / "run"), "failed") >= 3; }))
      << "so one device at least has had two in a row";
  fs::rename(folder / "away", program);
  const auto ended = process.wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  const auto events = journal(folder / "run");
  EXPECT_EQ(count(events, "completed"), 20);
  EXPECT_EQ(count(events, "blamed") + count(events, "quarantined"), 0);
}

TEST(Surroundings, OfAnInstantAreSurvived) {
  Folder folder;
  const auto data = (folder / "data.yaml").string();
  write_file(data, "");
  auto process = begin(folder, fake_trainer("--sleep 50 --needs " + data), {"--data", data});
  ASSERT_TRUE(has_begun(folder));
  fs::rename(data, folder / "away");
  ASSERT_TRUE(eventually([&] { return count(journal(folder / "run"), "failed") > 0; }));
  fs::rename(folder / "away", data);
  const auto ended = process.wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(completed(folder / "run").size(), 20U);
}

// Each is given its next trial before it exits.
TEST(Trainers, ThatExitAfterEachTrialAreReplacedAndFailNone) {
  Folder folder;
  const auto ended = begin(folder, fake_trainer("--once --linger 100")).wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(completed(folder / "run").size(), 20U);
  EXPECT_EQ(count(journal(folder / "run"), "failed"), 0);
}

TEST(Timeouts, OfZeroAreNone) {
  Folder folder;
  const auto ended =
      evolve(folder.path(), {"--trainer-command", fake_trainer("--sleep 1500"), "--devices", "cpu",
                             "--trials", "1", "--hang-timeout", "0", "--output", "run"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(count(journal(folder / "run"), "failed"), 0);
}

TEST(Trainers, ThatStopForReasonsOfTheirOwnCompleteTheirTrials) {
  Folder folder;
  const auto ended = begin(folder, fake_trainer("--stops-itself")).wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(completed(folder / "run").size(), 20U);
}

// NumPy, and so YOLOv5, takes no seed that is larger than a trial's may be.
TEST(Surroundings, AreAskedAboutWithTheSeedOfTheTrialThatIsTrainedAgain) {
  Folder folder;
  const auto trainer = fake_trainer("--faults 1=data --seen " + (folder / "seen").string());
  const auto ended =
      evolve(folder.path(), {"--trainer-command", trainer, "--devices", "cpu:0", "--trials", "4",
                             "--lag", "1", "--seed", "5000000000", "--output", "run"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  std::vector<nlohmann::json> seeds;
  for (const auto& one : seen(folder))
    if (one["trial"] == 0) seeds.push_back(one["seed"]);
  ASSERT_EQ(seeds.size(), 2U);
  EXPECT_EQ(seeds[0], seeds[1]);
  EXPECT_LT(seeds[0], std::int64_t{1} << 31);
}

TEST(AFitness, ThatIsNotFiniteCostsItsTrialOneTraining) {
  Folder folder;
  const auto log = folder / "log";
  const auto ended = evolve(
      folder.path(), {"--trainer-command", fake_trainer("--log " + log.string()), "--devices",
                      "cpu", "--trials", "3", "--fitness", "mAP50/(P-P)", "--output", "run"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("its fitness mAP50/(P-P) is "));
  EXPECT_EQ(final_failures(folder / "run"), 3);
  const auto lines = lines_of(read_file(log));
  ASSERT_EQ(lines.size(), 3U) << "each was trained once";
  std::set<int> workers;
  for (const auto& line : lines) workers.insert(std::stoi(line));
  EXPECT_EQ(workers.size(), 1U) << "and the worker lives on";
}

TEST(ADryRun, OfAResumedRunTrainsNothing) {
  Folder folder;
  const auto trainer = fake_trainer();
  ASSERT_EQ(evolve(folder.path(), {"--trainer-command", trainer, "--devices", "cpu", "--trials",
                                   "4", "--output", "run"})
                .code,
            0);
  const auto before = read_file(folder / "run/journal.jsonl");
  const auto looked = evolve(folder.path(), {"--resume", "run", "--trials", "9", "--dry-run"});
  EXPECT_EQ(looked.code, 0) << looked.err;
  EXPECT_THAT(looked.out, StartsWith("9 trials on 1 slot: cpu\n"));
  EXPECT_THAT(looked.out, HasSubstr("run: 4 of 9 trials done, going on"));
  EXPECT_EQ(read_file(folder / "run/journal.jsonl"), before);
}

TEST(APopulation, KeepsItsGenerationWhenARunIsResumed) {
  Folder folder;
  ASSERT_EQ(evolve(folder.path(), {"--trainer-command", fake_trainer(), "--devices", "cpu",
                                   "--trials", "10", "--population", "4", "--output", "run"})
                .code,
            0);
  const auto before = read_file(folder / "run/evolve_population.yaml");
  EXPECT_THAT(before, HasSubstr("gen2number0:"));
  ASSERT_EQ(evolve(folder.path(), {"--resume", "run"}).code, 0);
  EXPECT_EQ(read_file(folder / "run/evolve_population.yaml"), before);
}

}  // namespace
}  // namespace evolve::test

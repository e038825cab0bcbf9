// --trainer-exec: a command per trial, as real processes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>

#include "ga/random/rng.hpp"
#include "process.hpp"

namespace evolve::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

const std::string script = "python3 '" EVOLVE_SOURCE_DIR "/tests/end_to_end/one_shot.py' ";

/// evolve's arguments for a run of `trials` trials that are `command` each, on one CPU slot.
std::vector<std::string> arguments(const std::string& command,
                                   const std::vector<std::string>& more = {}, int trials = 1) {
  std::vector<std::string> all = {
      "--trainer-exec",       command,    "--devices", "cpu:0",    "--trials",
      std::to_string(trials), "--output", "run",       "--epochs", "6"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

Ended run(const Folder& folder, const std::string& command,
          const std::vector<std::string>& more = {}, int trials = 1) {
  return evolve(folder.path(), arguments(command, more, trials));
}

/// How the first trial of a run by `what` failed: "kind: message".
std::string failure_of(const std::string& what) {
  Folder folder;
  const auto ended = run(folder, script + what + " {hyp} {dir}", {"--retries", "0"});
  EXPECT_EQ(ended.code, 1) << ended.err;
  const auto failed = event(folder, "failed");
  const auto message = failed["message"].get<std::string>();
  const auto root = (folder / "run").string() + "/";
  const auto at = message.find(root);
  return failed["kind"].get<std::string>() + ": " +
         (at == message.npos ? message : std::string(message).erase(at, root.size()));
}

TEST(TrainerExec, TakesTheLastRowOfEachTrial) {
  Folder folder;
  const auto ended = run(folder, script + "yolov5 {hyp} {dir}", {}, 2);
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto completed = event(folder, "completed");
  // hsv_s of the start is 0.7.
  EXPECT_EQ(completed["metrics"],
            nlohmann::json::parse(R"({"metrics/precision":0.25,"metrics/recall":0.0,
              "metrics/mAP_0.5":0.33333,"metrics/mAP_0.5:0.95":0.16667,
              "val/box_loss":0.01,"val/obj_loss":0.02,"val/cls_loss":0.03})"));
  EXPECT_EQ(lines_of(read_file(folder / "run/evolve.csv")).size(), 3u);
  EXPECT_THAT(read_file(folder / "run/trials/000000/log"), HasSubstr("trained with "));
}

// Or its file server is away.
TEST(TrainerExec, ThatIsMovedAwayEndsTheRunAndBurnsNoTrial) {
  for (const std::string how : {"", "sh "}) {
    Folder folder;
    const auto trainer = folder / "train.sh", moved = folder / "moved.sh";
    write_file(trainer, "#!/bin/sh\nexec " + script + "yolov5 \"$1\" \"$2\"\n");
    fs::permissions(trainer, fs::perms::owner_all);
    Process process(evolve_command(arguments(how + trainer.string() + " {hyp} {dir}", {}, 12)),
                    folder.path());
    ASSERT_TRUE(eventually([&] { return count(journal(folder / "run"), "completed") >= 3; }));
    fs::rename(trainer, moved);
    const auto ended = process.wait();
    EXPECT_EQ(ended.code, 1);
    EXPECT_THAT(ended.err, HasSubstr(trainer.string() + ": No such file or directory"));
    for (const auto& event : journal(folder / "run"))
      EXPECT_NE(event.value("final", false), true) << event;
    fs::rename(moved, trainer);
    EXPECT_EQ(evolve(folder.path(), {"--resume", "run"}).code, 0);
    EXPECT_EQ(count(journal(folder / "run"), "completed"), 12);
  }
}

// It is not there when the run goes on, or is named where it is not.
TEST(TrainerExec, ThatIsGoneIsMissedBeforeARunGoesOn) {
  Folder folder;
  const auto trainer = folder / "train.sh", moved = folder / "moved.sh";
  write_file(trainer, "exec " + script + "yolov5 \"$1\" \"$2\"\n");
  ASSERT_EQ(run(folder, "sh " + trainer.string() + " {hyp} {dir}", {}, 2).code, 0);
  fs::rename(trainer, moved);
  const auto gone = evolve(folder.path(), {"--resume", "run", "--trials", "4"});
  EXPECT_EQ(gone.code, 2);
  EXPECT_THAT(gone.err, HasSubstr(trainer.string() + ": No such file or directory; restore it, or "
                                                     "say with --trainer-exec where it is now"));
  const auto resumed = [&](const std::string& command) {
    return evolve(folder.path(), {"--resume", "run", "--trials", "4", "--trainer-exec", command});
  };
  const auto misspelt = resumed("sh 'a b/move.sh' {hyp} {dir} --log " + moved.string());
  EXPECT_EQ(misspelt.code, 2);
  EXPECT_THAT(misspelt.err, HasSubstr("move.sh: No such file or directory; restore it, or"));
  EXPECT_EQ(count(journal(folder / "run"), "started"), 2);
  const auto found = resumed("sh " + moved.string() + " {hyp} {dir}");
  EXPECT_EQ(found.code, 0) << found.err;
}

// Another program than an interpreter starts it.
TEST(TrainerExec, ThatIsGoneWhenARunGoesOnBurnsNoTrial) {
  Folder folder;
  write_file(folder / "train.sh", "exec " + script + "yolov5 \"$1\" \"$2\"\n");
  ASSERT_EQ(run(folder, "env sh train.sh {hyp} {dir}", {"--retries", "0"}, 2).code, 0);
  fs::rename(folder / "train.sh", folder / "moved.sh");
  const auto gone = evolve(folder.path(), {"--resume", "run", "--trials", "20"});
  EXPECT_EQ(gone.code, 1);
  EXPECT_THAT(gone.err, HasSubstr("train.sh: No such file or directory"));
  for (const auto& event : journal(folder / "run"))
    EXPECT_NE(event.value("final", false), true) << event;
}

// A mended command may set a variable, or be a shell's.
TEST(TrainerExec, GoesOnWithACommandOfAnotherForm) {
  Folder folder;
  const auto trainer = folder / "train.sh";
  write_file(trainer, "exec " + script + "yolov5 \"$1\" \"$2\"\n");
  ASSERT_EQ(run(folder, "sh " + trainer.string() + " {hyp} {dir}", {}, 2).code, 0);
  int trials = 2;
  for (const auto& command :
       {"env MENDED=1 sh " + trainer.string() + " {hyp} {dir}",
        "sh -c 'sh \"$0\" \"$1\" \"$2\"' " + trainer.string() + " {hyp} {dir}",
        "sh -c '. " + trainer.string() + "' sh {hyp} {dir}", script + "yolov5 {hyp} {dir}"}) {
    const auto ended = evolve(folder.path(), {"--resume", "run", "--trials",
                                              std::to_string(++trials), "--trainer-exec", command});
    EXPECT_EQ(ended.code, 0) << command << ": " << ended.err;
    EXPECT_EQ(count(journal(folder / "run"), "completed"), trials);
  }
}

TEST(TrainerExec, SaysWhereItGoesOnWithAnotherScript) {
  Folder folder;
  write_file(folder / "train.sh", "exec " + script + "yolov5 \"$1\" \"$2\"\n");
  ASSERT_EQ(run(folder, "sh train.sh {hyp} {dir}", {}, 1).code, 0);
  const auto going_on = [&](const std::string& trials) {
    return evolve(folder.path(), {"--resume", "run", "--trials", trials}).out;
  };
  const auto* note = "train.sh is not what the run began with: its trials may not be comparable\n";
  EXPECT_THAT(going_on("2"), Not(HasSubstr(note)));
  write_file(folder / "train.sh", "sleep 0; exec " + script + "yolov5 \"$1\" \"$2\"\n");
  EXPECT_THAT(going_on("3"), HasSubstr(note));
  EXPECT_EQ(count(journal(folder / "run"), "completed"), 3);
}

TEST(TrainerExec, GoesOnWithoutAFileThatItHasRemoved) {
  Folder folder;
  write_file(folder / "train.sh", "#!/bin/sh\nrm -f $1\nexec " + script + "yolov5 \"$2\" \"$3\"\n");
  fs::permissions(folder / "train.sh", fs::perms::owner_all);
  write_file(folder / "state.lock", "");
  ASSERT_EQ(run(folder, "./train.sh state.lock {hyp} {dir}", {}, 1).code, 0);
  const auto ended = evolve(folder.path(), {"--resume", "run", "--trials", "2"});
  EXPECT_EQ(ended.code, 0) << ended.err;
}

TEST(TrainerExec, MayWriteToAFileThatItNames) {
  Folder folder;
  write_file(folder / "train.sh",
             "#!/bin/sh\necho trained >> $1\nexec " + script + "yolov5 \"$2\" \"$3\"\n");
  fs::permissions(folder / "train.sh", fs::perms::owner_all);
  write_file(folder / "trials.log", "");
  ASSERT_EQ(run(folder, "./train.sh trials.log {hyp} {dir}", {}, 1).code, 0);
  const auto ended = evolve(folder.path(), {"--resume", "run", "--trials", "2"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, Not(HasSubstr("is not what the run began with")));
}

TEST(TrainerExec, MayRemoveAFileThatItNames) {
  Folder folder;
  write_file(folder / "train.sh",
             "rm -f last.log\n[ $4 != 1 ] || exit 3\nexec " + script + "yolov5 \"$1\" \"$2\"\n");
  write_file(folder / "last.log", "");
  const auto ended = run(folder, "sh train.sh {hyp} {dir} last.log {trial}", {}, 3);
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(count(journal(folder / "run"), "completed"), 2);
  EXPECT_EQ(count(journal(folder / "run"), "failed"), 3) << "of the one trial that cannot do it";
}

TEST(TrainerExec, FillsPlaceholdersWithinWords) {
  Folder folder;
  const auto ended =
      run(folder, script +
                      "yolov5 {hyp} {dir} x{trial}/{epochs} '{seed} {device}' {} '${hyp}' "
                      "--dir={dir}");
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto dir = (folder.path() / "run/trials/000000").string();
  const auto words = seen(folder)[0]["words"];
  ASSERT_EQ(words.size(), 5u);
  EXPECT_EQ(words[0], "x0/6");
  const auto seed = journal(folder / "run").front()["seed"].get<std::uint64_t>();
  EXPECT_EQ(words[1], std::to_string(ga::training_seed(seed, ga::seed_number(0, 0))) + " cpu");
  EXPECT_EQ(words[2], "{}");
  EXPECT_EQ(words[3], "${hyp}");
  EXPECT_EQ(words[4], "--dir=" + dir);
}

TEST(TrainerExec, WritesNumbersAsYaml11Floats) {
  Folder folder;
  write_file(folder / "start.yaml", "lr0: 1e-5\nmosaic: 1\nbackbone: deep\n");
  write_file(folder / "space.yaml", "lr0: {low: 1.0e-5, high: 0.1, scale: log}\n");
  const auto ended =
      run(folder, script + "yolov5 {hyp} {dir}", {"--hyp", "start.yaml", "--space", "space.yaml"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(seen(folder)[0]["hyp"], "lr0: 1.0e-05\nmosaic: 1.0\nbackbone: deep\n");
}

TEST(TrainerExec, IsNotDeceivedByAnEarlierResult) {
  Folder folder;
  std::filesystem::create_directories(folder / "run/trials/000000");
  write_file(folder / "run/journal.jsonl", "");
  write_file(folder / "run/trials/000000/results.csv", "epoch\n1\n");
  const auto ended = run(folder, script + "yolov5 {hyp} {dir}", {"--exist-ok"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(seen(folder)[0]["stale"], false);
}

TEST(TrainerExec, SaysHowACommandFailed) {
  EXPECT_EQ(failure_of("exit"), "crash: exit code 3: ValueError: no such optimizer");
  EXPECT_EQ(failure_of("memory"), "oom: exit code 1: all ranks have ended");
  EXPECT_THAT(failure_of("killed"),
              HasSubstr("crash: killed by signal 11 (SIGSEGV); the last line before that: trained "
                        "with"));
}

TEST(TrainerExec, SaysWhatIsWrongWithItsResults) {
  EXPECT_EQ(failure_of("silent"),
            "data: the command ended without writing trials/000000/results.csv");
  EXPECT_EQ(
      failure_of("column"),
      "data: trials/000000/results.csv:1: there is no column val/obj_loss; write the columns of "
      "YOLOv5's or of Ultralytics' results.csv, with 0 for a loss that the trainer does not have");
  EXPECT_EQ(failure_of("nan"),
            "diverged: trials/000000/results.csv: metrics/mAP_0.5 is nan or empty in the last row");
}

TEST(TrainerExec, LeavesNothingRunning) {
  Folder folder;
  const auto ended = run(folder, script + "linger {hyp} {dir}", {}, 2);
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto ids = lines_of(read_file(folder / "lingering"));
  ASSERT_EQ(ids.size(), 2u);
  for (const auto& id : ids) EXPECT_FALSE(alive(std::stoi(id)));
}

/// The processes of a trial that hangs.
std::vector<int> hanging(const Folder& folder) {
  std::vector<int> ids;
  std::ifstream file(folder / "hanging");
  for (int id = 0; file >> id;) ids.push_back(id);
  return ids;
}

TEST(TrainerExec, DiesWithEvolve) {
  Folder folder;
  for (const int number : {SIGINT, SIGKILL}) {
    std::filesystem::remove(folder / "hanging");
    std::filesystem::remove_all(folder / "run");
    Process process(evolve_command(arguments(script + "hang {hyp} {dir}")), folder.path());
    ASSERT_TRUE(eventually([&] { return hanging(folder).size() == 2; }));
    process.signal(number);
    EXPECT_EQ(process.wait().code, number == SIGINT ? 130 : 137);
    for (const int id : hanging(folder))
      EXPECT_TRUE(eventually([&] { return !alive(id); })) << "signal " << number;
  }
}

TEST(TrainerExec, IsHeardByItsOutputAndItsRows) {
  Folder folder;
  const auto ended =
      run(folder, script + "hang {hyp} {dir}", {"--hang-timeout", "10", "--retries", "0"});
  EXPECT_EQ(ended.code, 1);
  ASSERT_EQ(event(folder, "failed")["message"],
            "silent for 10 s; a longer --hang-timeout allows more");
  ASSERT_FALSE(hanging(folder).empty());
  EXPECT_TRUE(eventually([&] { return !alive(hanging(folder)[0]); }));

  Folder talking;
  const auto talked =
      run(talking,
          "sh -c 'for i in 1 2 3 4 5 6; do echo $i; sleep 1; done; exec \"$@\"' - " + script +
              "yolov5 {hyp} {dir}",
          {"--hang-timeout", "5", "--retries", "0"});
  EXPECT_EQ(talked.code, 0) << talked.err;

  Folder writing;
  const auto wrote = run(writing, script + "unvalidated {hyp} {dir}",
                         {"--epochs", "7", "--hang-timeout", "4", "--retries", "0"});
  EXPECT_EQ(wrote.code, 0) << wrote.err;
}

TEST(TrainerExec, IsKeptByAResumedRun) {
  Folder folder;
  ASSERT_EQ(run(folder, script + "yolov5 {hyp} {dir}", {}, 2).code, 0);
  const auto ended = evolve(folder.path(), {"--resume", "run", "--trials", "3"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(count(journal(folder / "run"), "completed"), 3);
  EXPECT_THAT(read_file(folder / "run/opt.yaml"), HasSubstr("yolov5 {hyp} {dir}"));
}

TEST(TrainerExec, MayBeElsewhereWhereARunGoesOn) {
  Folder folder;
  ASSERT_EQ(run(folder, script + "yolov5 {hyp} {dir}", {}, 2).code, 0);
  fs::copy_file(EVOLVE_SOURCE_DIR "/tests/end_to_end/one_shot.py", folder / "moved.py");
  const auto there = "python3 '" + (folder / "moved.py").string() + "' yolov5 {hyp} {dir}";
  const auto ended =
      evolve(folder.path(), {"--resume", "run", "--trials", "3", "--trainer-exec", there});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(count(journal(folder / "run"), "completed"), 3);
  EXPECT_THAT(read_file(folder / "run/opt.yaml"), HasSubstr("moved.py"));
}

/// What the one trial on these devices has seen, with these variables ("NAME=VALUE") set: its first
/// word, then what it has in `variable` ("-" for nothing).
std::vector<std::string> sight(const std::vector<std::string>& variables,
                               const std::string& devices, const std::string& placeholder,
                               const std::string& variable,
                               const std::vector<std::string>& more = {}) {
  Folder folder;
  std::vector<std::string> command = {"/usr/bin/env", "-u", "CUDA_VISIBLE_DEVICES", "-u",
                                      "ZE_AFFINITY_MASK"};
  command.insert(command.end(), variables.begin(), variables.end());
  std::vector<std::string> arguments = {
      "--trainer-exec", script + "yolov5 {hyp} {dir} " + placeholder,
      "--devices",      devices,
      "--trials",       "1",
      "--output",       "run"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  for (const auto& word : evolve_command(arguments)) command.push_back(word);
  const auto ended = Process(command, folder.path()).wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  const auto all = seen(folder);
  if (all.size() != 1) return {"no trial"};
  return {all[0]["words"][0], all[0][variable].is_null() ? "-" : all[0][variable]};
}

const std::string nvidia = "LD_LIBRARY_PATH=" FAKE_NVML_FOLDER;
const std::string intel = "ZE_ENABLE_ALT_DRIVERS=" FAKE_LEVEL_ZERO;
const std::string gpus =
    "FAKE_GPUS=name=A,uuid=GPU-11aa,bus=1;name=B,uuid=GPU-22bb,bus=2;name=C,uuid=GPU-33cc,bus=3";
const std::string xpus = "FAKE_XPUS=name=A,bus=3;name=B,bus=4;name=C,bus=5";

TEST(TrainerExec, SeesItsDeviceAloneAsNumber0) {
  EXPECT_THAT(sight({nvidia, gpus}, "cuda:1", "{device}", "CUDA_VISIBLE_DEVICES"),
              ElementsAre("cuda:0", "GPU-22bb"));
  EXPECT_THAT(sight({intel, xpus}, "xpu:2", "{device}", "ZE_AFFINITY_MASK"),
              ElementsAre("xpu:0", "2"));
  EXPECT_THAT(sight({}, "cpu", "{device}", "CUDA_VISIBLE_DEVICES"), ElementsAre("cpu", "-1"));
  EXPECT_THAT(sight({}, "gcu:3", "{device}", "TOPS_VISIBLE_DEVICES"), ElementsAre("gcu:0", "3"));
}

TEST(TrainerExec, SeesTheDevicesOfAGroup) {
  EXPECT_THAT(sight({nvidia, gpus}, "cuda:2+cuda:0", "{device}", "CUDA_VISIBLE_DEVICES"),
              ElementsAre("cuda:0,1", "GPU-33cc,GPU-11aa"));
  EXPECT_THAT(sight({nvidia, gpus}, "cuda:2+cuda:0", "{index}", "CUDA_VISIBLE_DEVICES"),
              ElementsAre("2,0", "-"));
  EXPECT_THAT(sight({intel, xpus}, "xpu:0+xpu:2", "{device}", "ZE_AFFINITY_MASK"),
              ElementsAre("xpu:0,1", "0,2"));
  EXPECT_THAT(sight({}, "gcu:3+gcu:4", "{device}", "TOPS_VISIBLE_DEVICES"),
              ElementsAre("gcu:0,1", "3,4"));
  EXPECT_THAT(sight({}, "cpu:0+cpu:1", "{device}", "CUDA_VISIBLE_DEVICES"),
              ElementsAre("cpu", "-1"));
}

TEST(TrainerExec, ThatAsksForTheIndexGetsTheMachinesAndNoMask) {
  EXPECT_THAT(sight({nvidia, gpus}, "cuda:1", "{index}", "CUDA_VISIBLE_DEVICES"),
              ElementsAre("1", "-"));
  EXPECT_THAT(sight({nvidia, gpus}, "cuda:1", "{device}/{index}", "CUDA_DEVICE_ORDER"),
              ElementsAre("cuda:1/1", "PCI_BUS_ID"));
  EXPECT_THAT(sight({intel, xpus}, "xpu:2", "{index}", "ZE_AFFINITY_MASK"), ElementsAre("2", "-"));
  EXPECT_THAT(sight({}, "gcu:3", "{index}", "TOPS_VISIBLE_DEVICES"), ElementsAre("3", "-"));
}

TEST(TrainerExec, CountsTheIndexWithoutTheMaskThatEvolveHas) {
  EXPECT_THAT(sight({nvidia, gpus, "CUDA_VISIBLE_DEVICES=2,GPU-22"}, "cuda:1", "{index}",
                    "CUDA_VISIBLE_DEVICES"),
              ElementsAre("1", "-"));
  EXPECT_THAT(sight({nvidia, gpus, "CUDA_VISIBLE_DEVICES=2,1"}, "cuda:0", "{index}",
                    "CUDA_VISIBLE_DEVICES"),
              ElementsAre("2", "-"));
  EXPECT_THAT(sight({intel, xpus, "ZE_AFFINITY_MASK=1,2"}, "xpu:1", "{index}", "ZE_AFFINITY_MASK"),
              ElementsAre("2", "-"));
  EXPECT_THAT(sight({"TOPS_VISIBLE_DEVICES=4,5"}, "gcu:1", "{index}", "TOPS_VISIBLE_DEVICES"),
              ElementsAre("5", "-"));
}

TEST(TrainerExec, ThatAsksForTheIndexGetsNoOtherMaskThatEvolveHasEither) {
  const std::vector<std::string> selected = {intel, xpus, "ONEAPI_DEVICE_SELECTOR=level_zero:1",
                                             "ZE_FLAT_DEVICE_HIERARCHY=COMPOSITE"};
  EXPECT_THAT(sight(selected, "xpu:0", "{index}", "ONEAPI_DEVICE_SELECTOR"), ElementsAre("1", "-"));
  EXPECT_THAT(sight(selected, "xpu:0", "{index}", "ZE_FLAT_DEVICE_HIERARCHY"),
              ElementsAre("1", "COMPOSITE"))
      << "what the number counts";
  for (const std::string kind : {"abc", "hip"})
    EXPECT_THAT(sight({"ABC_DEVICES=4,5"}, kind + ":1", "{index}", "ABC_DEVICES",
                      {"--device-env", "ABC_DEVICES"}),
                ElementsAre("5", "-"));
  EXPECT_THAT(sight({}, "abc:5", "{index}", "ABC_DEVICES"), ElementsAre("5", "-"));
}

/// What `evolve --trainer-exec COMMAND --dry-run MORE` says against it.
std::string refusal(const std::string& command, const std::vector<std::string>& more = {}) {
  Folder folder;
  auto all = arguments(command, more);
  all.push_back("--dry-run");
  return refusal_of(evolve(folder.path(), all));
}

TEST(TrainerExec, IsLookedOverBeforeAnythingRuns) {
  EXPECT_THAT(refusal("train {hyp} {Dir}"),
              HasSubstr("--trainer-exec: {Dir} stands for nothing; choose among {hyp} {device} "
                        "{index} {epochs} {dir} {seed} {trial}"));
  EXPECT_THAT(
      refusal("train --epochs {epochs}"),
      HasSubstr("--trainer-exec: the command does not get its hyperparameters; write {hyp}"));
  EXPECT_THAT(refusal("train 'a"), HasSubstr("--trainer-exec: a ' is not closed"));
  EXPECT_THAT(refusal(""), HasSubstr("--trainer-exec '': this is empty"));
  EXPECT_THAT(refusal("train {hyp}", {"--trainer-command", "b"}),
              HasSubstr("--trainer-command and --trainer-exec: a run has one trainer"));
  EXPECT_THAT(refusal("cat {hyp} --device {index}"),
              HasSubstr("--trainer-exec with {index}: cpu:0 has no number; write {device}"));
  EXPECT_THAT(refusal("there-is-no-such-program {hyp}"),
              HasSubstr("--trainer-exec: 'there-is-no-such-program' cannot be started (No such "
                        "file or directory); name a program that exists and may be "
                        "started"));
}

TEST(TrainerExec, IsDescribedByADryRun) {
  Folder folder;
  const auto ended = run(folder, "cat {hyp}", {"--dry-run"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("each runs cat {hyp}\n"));
}

TEST(TrainerExec, SaysWhatTheCommandIsNotTold) {
  Folder folder;
  const auto untold = run(folder, "cat {hyp}", {"--imgsz", "64", "--cos-lr", "--dry-run"});
  EXPECT_THAT(
      untold.out,
      HasSubstr("the command does not get --cos-lr, --imgsz: write its own options for this into "
                "it\nthe command does not get {epochs}: its trainings count as 6 epochs\n"));
  const auto told = run(folder, "cat {hyp} {epochs}", {"--data", "my.yaml", "--dry-run"});
  EXPECT_THAT(told.out, Not(HasSubstr("does not get")));
}

TEST(TrainerExec, SeesWhatPythonPrintsAsItIsPrinted) {
  Folder folder;
  const auto ended = run(folder, "bash -c 'echo \"$0 $PYTHONUNBUFFERED\"; exit 3' {hyp}", {});
  EXPECT_THAT(read_file(folder / "run/trials/000000/log"), HasSubstr("trial_hyp.yaml 1\n"));
}

// It cannot draw its plots, say.
TEST(TrainerExec, ThatFailsWhateverItHasTrainedEndsTheRunAfterTenTrials) {
  Folder folder;
  write_file(folder / "t.sh", script + "yolov5 $1 $2; sleep 0.7; [ -e mended ]\n");
  const std::vector<std::string> arguments = {"--trainer-exec", "sh t.sh {hyp} {dir}",
                                              "--devices",      "cpu:0,cpu:1",
                                              "--trials",       "24",
                                              "--retries",      "0",
                                              "--output",       "run"};
  const auto ended = evolve(folder.path(), arguments);
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("no trial has ended well, the last one with: exit code 1"));
  EXPECT_THAT(ended.err, HasSubstr("mend it, and go on with evolve --resume run or begin anew"));
  const auto failed = count(journal(folder / "run"), "failed");
  EXPECT_GE(failed, 10);
  EXPECT_LE(failed, 11) << "one more was under way";
  write_file(folder / "mended", "");
  const auto resumed = evolve(folder.path(), {"--resume", "run"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(count(journal(folder / "run"), "completed"), 24 - failed);
}

TEST(TrainerExec, WhoseScriptIsNotThereIsRefused) {
  Folder folder;
  const auto ended = run(folder, "sh t.sh {hyp} {dir}", {});
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.err, "evolve: t.sh: No such file or directory; name a script that exists\n");
  EXPECT_FALSE(std::filesystem::exists(folder / "run"));
}

TEST(Exec, StopsWhenItsProgramWasNeverThereAndBurnsNoTrial) {
  Folder folder;
  for (const std::string devices : {"cpu:0", "cpu:0,cpu:1"}) {
    std::filesystem::remove_all(folder / "run");
    std::filesystem::remove(folder / "t.sh");
    const auto ended =
        evolve(folder.path(), {"--trainer-exec", "env sh t.sh {hyp} {dir}", "--devices", devices,
                               "--trials", "12", "--output", "run"});
    EXPECT_EQ(ended.code, 1) << ended.out;
    EXPECT_THAT(ended.err, HasSubstr("nothing could be trained in "));
    EXPECT_THAT(ended.err, HasSubstr("--resume"));
    write_file(folder / "t.sh", "exec " + script + "yolov5 $1 $2\n");
    EXPECT_EQ(evolve(folder.path(), {"--resume", "run"}).code, 0);
    EXPECT_EQ(completed(folder / "run").size(), 12U);
  }
}

}  // namespace
}  // namespace evolve::test

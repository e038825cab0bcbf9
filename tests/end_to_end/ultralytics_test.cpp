// --trainer ultralytics trains, fails and goes on: the real worker in Python, with a stand-in for
// Ultralytics' package.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <set>

#include "python_trainer.hpp"

namespace evolve::test {
namespace {

using testing::HasSubstr;
using testing::Not;

Ended run(const Folder& folder, const std::vector<std::string>& arguments) {
  return run_with("ultralytics", folder, arguments);
}

/// The metrics of a trained trial of `model`, in the order of evolve.csv.
std::vector<double> metrics_of(const std::string& model) {
  Folder folder;
  const auto ended = run(folder, trials(model));
  EXPECT_EQ(ended.code, 0) << ended.err;
  std::vector<double> numbers;
  const auto metrics = event(folder, "completed")["metrics"];
  for (const auto* name : {"precision", "recall", "mAP_0.5", "mAP_0.5:0.95"})
    numbers.push_back(metrics["metrics/" + std::string(name)]);
  for (const auto* name : {"box", "obj", "cls"})
    numbers.push_back(metrics["val/" + std::string(name) + "_loss"]);
  return numbers;
}

/// How the first trial of `model` fails: "kind: message".
std::string failure_of(const std::string& model, const std::vector<std::string>& more = {}) {
  return failure_with("ultralytics", model, more);
}

TEST(Ultralytics, IsTrainedThoughTheFolderHasAnEvolveOfItsOwn) {
  Folder folder;
  write_file(folder / "evolve.py", "raise SystemExit('not this one')\n");
  const auto ended = run(folder, trials("yolo11n.yaml", 1));
  EXPECT_EQ(ended.code, 0) << ended.err;
}

TEST(Ultralytics, IsTrainedThoughTheFolderHasModulesThatAreCalledAsPythonsAre) {
  Folder folder;
  for (const auto* name : {"json.py", "runpy.py", "torch.py"})
    write_file(folder / name, "raise SystemExit('not this one')\n");
  const auto ended = run(folder, trials("yolo11n.yaml", 1));
  EXPECT_EQ(ended.code, 0) << ended.err;
}

TEST(Ultralytics, TrainsTrialAfterTrialInOneProcessPerSlot) {
  Folder folder;
  const auto ended = run(folder, trials("yolo11n.yaml", 6, {"--devices", "cpu:0,cpu:1"}));
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(count(journal(folder / "run"), "completed"), 6);
  std::set<int> processes;
  for (int trial = 0; trial < 6; ++trial)
    processes.insert(settings_of(folder, trial)["pid"].get<int>());
  EXPECT_LE(processes.size(), 2u);
}

// The stand-in's scores: 0.2 for the default box, then a half, a third, … of it.
TEST(Ultralytics, HasItsMetricsTaskByTask) {
  using testing::DoubleEq;
  using testing::ElementsAre;
  EXPECT_THAT(metrics_of("yolo11n.yaml"),
              ElementsAre(0.2, 0.1, 0.06667, 0.05, 0.1, DoubleEq(0.3), 0.2));
  EXPECT_THAT(metrics_of("yolo11n-obb.yaml"),
              ElementsAre(0.2, 0.1, 0.06667, 0.05, 0.1, DoubleEq(0.3), 0.2));
  const auto means = ElementsAre(DoubleEq((0.2 + 0.04) / 2), DoubleEq((0.1 + 0.03333) / 2),
                                 DoubleEq((0.06667 + 0.02857) / 2), DoubleEq((0.05 + 0.025) / 2),
                                 0.1, DoubleEq(0.3), 0.2);
  EXPECT_THAT(metrics_of("yolo11n-seg.yaml"), means);
  EXPECT_THAT(metrics_of("yolo11n-pose.yaml"), means);
  EXPECT_THAT(metrics_of("yolo11n-cls.yaml"), ElementsAre(0.2, 0.2, 0.1, 0.2, 0.0, 0.0, 0.1));
}

TEST(Ultralytics, SaysWhatItsMetricsStandFor) {
  const auto said_of = [](const std::string& model) {
    Folder folder;
    return run(folder, trials(model)).out;
  };
  EXPECT_THAT(said_of("yolo11n-seg.yaml"),
              HasSubstr("\nprecision, recall and mAP are means over boxes and masks\n"));
  EXPECT_THAT(said_of("yolo11n-pose.yaml"),
              HasSubstr("\nprecision, recall and mAP are means over boxes and poses\n"));
  EXPECT_THAT(said_of("yolo11n-cls.yaml"),
              HasSubstr("\nmAP50-95, precision and recall stand for the top-1 accuracy, mAP50 for "
                        "the top-5\n"));
  EXPECT_THAT(said_of("yolo11n.yaml"), Not(HasSubstr("precision")));
}

// Its GIoU, L1 and class loss, for the losses of boxes, objects and classes.
TEST(Ultralytics, TrainsAnRtDetrWhoseLossesStandBehindYolos) {
  EXPECT_THAT(metrics_of("rtdetr-l.yaml"),
              testing::ElementsAre(0.2, 0.1, 0.06667, 0.05, 0.1, testing::DoubleEq(0.3), 0.2));
}

TEST(Ultralytics, SaysWhyATrialFailed) {
  EXPECT_EQ(failure_of("oom.yaml"),
            "oom: RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB");
  EXPECT_EQ(failure_of("nan.yaml"), "diverged: val/box_loss is nan");
  EXPECT_EQ(failure_of("nan_loss.yaml"), "diverged: the loss is nan in epoch 1");
  EXPECT_EQ(failure_of("broken.yaml"), "other: ValueError: something else");
  EXPECT_THAT(failure_of("lost.yaml"), HasSubstr("device_lost: RuntimeError: level_zero"));
  EXPECT_EQ(failure_of("short.yaml"), "other: the training ended after 1 of 2 epochs");
}

TEST(Ultralytics, LeavesNoEmptyFolderWhereATrialFailed) {
  Folder folder;
  run(folder, trials("broken.yaml", 1, {"--retries", "0"}));
  EXPECT_TRUE(std::filesystem::exists(trial_folder(folder, 0) / "log"));
  EXPECT_FALSE(std::filesystem::exists(trial_folder(folder, 0) / "weights"));
}

TEST(Ultralytics, BlamesNoTrialForWhatCannotBeFetched) {
  Folder folder;
  const auto ended = run(folder, trials("offline.yaml", 1, {"--retries", "0"}));
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("ConnectionError: Download failure for offline.yaml"));
  EXPECT_EQ(event(folder, "failed")["kind"], "data");
  EXPECT_EQ(event(folder, "failed")["final"], false);
}

/// A run whose weights goes.pt are taken away by its first trial.
Ended run_without_weights(const Folder& folder) {
  write_file(folder / "goes.pt", "weights");
  auto ended = run(folder, trials("goes.pt", 3, {"--lag", "1"}));
  EXPECT_EQ(ended.code, 1) << ended.out;
  EXPECT_THAT(ended.err, HasSubstr((folder / "goes.pt").string() + ": No such file or directory"));
  for (const auto& one : journal(folder / "run")) EXPECT_FALSE(one.value("final", false)) << one;
  return ended;
}

TEST(Ultralytics, GoesOnOnceItsWeightsAreBack) {
  Folder folder;
  run_without_weights(folder);
  write_file(folder / "goes.pt", "weights");
  const auto ended = resumed(folder);
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(count(journal(folder / "run"), "completed"), 3);
}

TEST(Ultralytics, StartsNoTrialFromWeightsThatWereReplaced) {
  Folder folder;
  write_data(folder);
  write_file(folder / "mine.pt", "weights");
  Process process(command_of("ultralytics", trials("mine.pt", 5000)), folder.path());
  ASSERT_TRUE(eventually([&] { return completed(folder / "run").size() >= 2; }));
  write_file(folder / "mine.pt", "of another training");
  const auto ended = process.wait();
  EXPECT_EQ(ended.code, 1);
  const auto fault = "mine.pt: these are other weights than the run began with; bring them back";
  EXPECT_THAT(ended.out, HasSubstr(fault));
  EXPECT_THAT(ended.out, HasSubstr("; no further trial is started\n"));
  EXPECT_THAT(ended.err, HasSubstr(fault));
  EXPECT_EQ(count(journal(folder / "run"), "failed"), 0);
  write_file(folder / "mine.pt", "weights");
  const auto before = completed(folder / "run").size();
  Process resumed({"/usr/bin/env", "PYTHONPATH=" + packages, EVOLVE_BINARY, "--resume", "run"},
                  folder.path());
  EXPECT_TRUE(eventually([&] { return completed(folder / "run").size() > before; }));
  resumed.signal(SIGINT);
  EXPECT_EQ(resumed.wait().code, 128 + SIGINT);
}

TEST(Ultralytics, DoesNotGoOnWithOtherWeightsOrOtherClasses) {
  Folder folder;
  run_without_weights(folder);
  write_file(folder / "goes.pt", "others");
  const auto with_others = resumed(folder);
  EXPECT_EQ(with_others.code, 2);
  EXPECT_THAT(with_others.err, HasSubstr("goes.pt: these are other weights than the run began "
                                         "with; bring them back, or begin a new run"));
  write_file(folder / "goes.pt", "weights");
  write_file(folder / "my.yaml", "train: images\nnames: [a]\n");
  const auto with_classes = resumed(folder);
  EXPECT_EQ(with_classes.code, 2);
  EXPECT_THAT(with_classes.err, HasSubstr("my.yaml: its images or classes are not those that the "
                                          "run began with"));
}

TEST(Ultralytics, GoesOnWithADataFileThatIsMendedBeforeAnyTrialIsTrained) {
  Folder folder;
  write_data(folder);
  write_file(folder / "my.yaml", "train: images\nval: unlabelled\n");
  const auto began =
      Process(command_of("ultralytics", trials("yolo11n.yaml")), folder.path()).wait();
  EXPECT_EQ(began.code, 1);
  write_data(folder);
  EXPECT_EQ(resumed(folder).code, 0);
  EXPECT_NE(event(folder, "inputs")["inputs"]["data"], event(folder, "run")["inputs"]["data"]);
  EXPECT_EQ(resumed(folder, {"--trials", "2"}).code, 0);
  EXPECT_EQ(count(journal(folder / "run"), "inputs"), 1);
  write_file(folder / "my.yaml", "train: images\nval: unlabelled\n");
  const auto changed = resumed(folder, {"--trials", "3"});
  EXPECT_EQ(changed.code, 2);
  EXPECT_THAT(changed.err, HasSubstr("my.yaml: its images or classes are not those that the run "
                                     "began with"));
}

TEST(Ultralytics, SaysWhereItGoesOnWithAnotherVersion) {
  Folder folder;
  ASSERT_EQ(run(folder, trials("yolo11n.yaml")).code, 0);
  EXPECT_EQ(event(folder, "run")["inputs"]["trainer"], "ultralytics 8.4.190, torch 2.4.1");
  EXPECT_THAT(resumed(folder, {"--trials", "2"}).out, Not(HasSubstr("the run began with")));
  const auto ended = Process({"/usr/bin/env", "PYTHONPATH=" + packages, "ULTRALYTICS_VERSION=8.5.0",
                              EVOLVE_BINARY, "--resume", "run", "--trials", "3"},
                             folder.path())
                         .wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out,
              HasSubstr("the run began with ultralytics 8.4.190, torch 2.4.1 and goes on with "
                        "ultralytics 8.5.0, torch 2.4.1: its trials may not be comparable\n"));
}

TEST(Ultralytics, GoesOnWithDataThatWereMoved) {
  Folder folder;
  run_without_weights(folder);
  write_file(folder / "goes.pt", "weights");
  std::filesystem::create_directory(folder / "there");
  std::filesystem::rename(folder / "images", folder / "there/images");
  write_file(folder / "my.yaml", "# moved\npath: there\ntrain: images\nkpt_shape: [17, 3]\n");
  const auto ended = resumed(folder);
  EXPECT_EQ(ended.code, 0) << ended.err;
}

TEST(Ultralytics, GoesOnWhereItsProjectWasMovedTo) {
  Folder folder;
  std::filesystem::create_directories(folder / "old/images");
  write_file(folder / "old/my.yaml", "path: .\ntrain: images\n");
  write_file(folder / "old/my.pt", "weights");
  const auto words = command_of("ultralytics", trials("my.pt", 1, {"--data", "my.yaml"}));
  ASSERT_EQ(Process(words, folder / "old").wait().code, 0);
  std::filesystem::rename(folder / "old", folder / "new");
  const auto resumed = [&](const std::vector<std::string>& more) {
    std::vector<std::string> command = {"/usr/bin/env",
                                        "PYTHONPATH=" + packages,
                                        EVOLVE_BINARY,
                                        "--resume",
                                        "run",
                                        "--trials",
                                        "2"};
    command.insert(command.end(), more.begin(), more.end());
    return Process(command, folder / "new").wait();
  };
  EXPECT_EQ(resumed({}).err, "evolve: " + (folder / "old/my.yaml").string() +
                                 ": No such file or directory; restore it, or say with its option "
                                 "where it is now\n");
  write_file(folder / "new/others.pt", "others");
  EXPECT_EQ(resumed({"--data", "my.yaml", "--model", "others.pt"}).err,
            "evolve: " + (folder / "new/others.pt").string() +
                ": these are other weights than the run began with; bring them back, or begin a "
                "new run that learns from this one: evolve --from RUN\n");
  EXPECT_EQ(resumed({"--data", "my.yaml", "--model", "yolo11n.pt"}).code, 2);
  const auto ended = resumed({"--data", "my.yaml", "--model", "my.pt"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(count(journal(folder / "new/run"), "completed"), 2);
}

TEST(Ultralytics, FindsItsDataWhereverItIsResumed) {
  Folder folder;
  std::filesystem::create_directories(folder / "mine/images");
  std::filesystem::create_directory(folder / "yaml");
  std::filesystem::create_directory(folder / "elsewhere");
  write_file(folder / "yaml/my.yaml", "path: mine\ntrain: images\n");
  const auto words =
      command_of("ultralytics", trials("yolo11n.yaml", 1, {"--data", "yaml/my.yaml"}));
  const auto begun = Process(words, folder.path()).wait();
  ASSERT_EQ(begun.code, 0) << begun.err;
  const auto ended = Process({"/usr/bin/env", "PYTHONPATH=" + packages, EVOLVE_BINARY, "--resume",
                              "../run", "--trials", "3"},
                             folder / "elsewhere")
                         .wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(count(journal(folder / "run"), "completed"), 3);
}

// The stand-in cannot be imported, and its process takes 5 s to end by itself.
TEST(Ultralytics, SaysWhyItsWorkerDoesNotStart) {
  Folder folder;
  write_data(folder);
  const auto words =
      command_of("ultralytics", trials("yolo11n.yaml", 1, {"--launcher", "/usr/bin/env"}),
                 {"TORCH_IS_BROKEN=1"});
  const auto ended = Process(words, folder.path()).wait();
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("no worker became ready in 5 attempts in a row: worker never "
                                   "became ready: exit code 1: ImportError: libtorch_cpu.so: "
                                   "cannot open shared object file; mend it"));
}

TEST(Ultralytics, NamesTheModelThatItCannotGoOnWith) {
  Folder folder;
  ASSERT_EQ(run(folder, trials("yolo11n-seg.yaml")).code, 0);
  const auto refused = resumed(folder, {"--trials", "2", "--model", "x.pt"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--model \"x.pt\": the run to resume has "
                                     "\"yolo11n-seg.yaml\"; leave the option out"));
  const auto same = resumed(folder, {"--trials", "2", "--model", "yolo11n-seg.yaml"});
  EXPECT_EQ(same.code, 0) << same.err;
}

TEST(Ultralytics, LosesNoTrainingWhoseWeightsCannotBeWritten) {
  expect_a_training_without_weights("ultralytics");
}

std::set<int> with_weights(const Folder& folder, int trials) {
  std::set<int> found;
  for (int trial = 0; trial < trials; ++trial)
    if (std::filesystem::exists(trial_folder(folder, trial) / "weights/last.pt"))
      found.insert(trial);
  return found;
}

/// The recommended trial, and so many of greatest fitness.
std::set<int> best_trials(const Folder& folder, std::size_t count) {
  std::vector<std::pair<double, int>> trials;
  for (const auto& event : journal(folder / "run"))
    if (event["event"] == "completed") trials.emplace_back(event["fitness"], event["trial"]);
  const auto text = read_file(folder / "run/hyp_evolved.yaml");
  const std::string row = "Best generation: ";
  std::set<int> best{trials.at(std::stoul(text.substr(text.find(row) + row.size()))).second};
  std::ranges::sort(trials, std::greater());
  for (std::size_t i = 0; i < count; ++i) best.insert(trials.at(i).second);
  return best;
}

TEST(Ultralytics, KeepsTheWeightsOfTheBestTrials) {
  Folder folder;
  ASSERT_EQ(run(folder, trials("yolo11n.yaml", 8, {"--keep-weights", "3"})).code, 0);
  EXPECT_EQ(with_weights(folder, 8), best_trials(folder, 3));
  // Left by a trial that ended when evolve was killed.
  for (int trial = 0; trial < 8; ++trial) {
    std::filesystem::create_directories(trial_folder(folder, trial) / "weights");
    write_file(trial_folder(folder, trial) / "weights/last.pt", "weights");
  }
  const auto ended = resumed(folder, {"--trials", "9"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(with_weights(folder, 9), best_trials(folder, 3));
}

TEST(Ultralytics, KeepsTheWeightsOfAllTrialsWhereThatIsAskedFor) {
  Folder folder;
  ASSERT_EQ(run(folder, trials("yolo11n.yaml", 5, {"--keep-weights", "-1"})).code, 0);
  EXPECT_EQ(with_weights(folder, 5).size(), 5u);
  EXPECT_FALSE(std::filesystem::exists(trial_folder(folder, 0) / "weights/best.pt"));
}

TEST(Ultralytics, DoesNotTrainWithASmallerBatchThanAskedFor) {
  EXPECT_EQ(failure_of("halved.yaml", {"--epochs", "3"}), "oom: out of memory with batches of 16");
  EXPECT_EQ(failure_of("halved.yaml", {"--epochs", "3", "--batch-size", "-1"}),
            "oom: out of memory with batches of 24");
}

TEST(Ultralytics, TrainsAllTrialsOfAProcessWithTheBatchThatAutoBatchFindsFirst) {
  Folder folder;
  ASSERT_EQ(run(folder, trials("yolo11n.yaml", 3, {"--batch-size", "-1"})).code, 0);
  EXPECT_EQ(settings_of(folder, 0)["batch"], -1);
  EXPECT_EQ(settings_of(folder, 1)["batch"], 24);
  EXPECT_EQ(settings_of(folder, 2)["batch"], 24);
}

TEST(Ultralytics, DoesNotTrainWhereNoTrainingImageHasALabel) {
  expect_wrong_data("ultralytics", "yolo11n.yaml", "# train: unlabelled\ntrain: images\n",
                    "no label in the training images: ");
}

TEST(Ultralytics, DoesNotTrainWhereNoValidationImageHasALabel) {
  expect_wrong_data("ultralytics", "yolo11n.yaml", "train: images\nval: unlabelled\n",
                    "no label in the validation images: ");
}

/// Expects that the logs of three trials of one process have these words once.
void expect_once(const std::string& words, const std::vector<std::string>& options) {
  Folder folder;
  ASSERT_EQ(run(folder, trials("yolo11n.yaml", 3, options)).code, 0);
  std::string logs;
  for (int trial = 0; trial < 3; ++trial) logs += read_file(trial_folder(folder, trial) / "log");
  const auto first = logs.find(words);
  ASSERT_NE(first, logs.npos);
  EXPECT_EQ(logs.find(words, first + 1), logs.npos);
}

TEST(Ultralytics, ReadsImagesOnceForAllTrialsOfAProcessThatKeepThem) {
  expect_once("Caching images", {"--cache"});
}

// The stand-in fails where it is given images of another size. Those of the last one are kept, no
// others: memory would grow with each share of the images that a trial has.
TEST(Ultralytics, ReadsImagesAnewForTrialsThatTrainOnAnotherSize) {
  Folder folder;
  write_file(folder / "space.yaml", "imgsz: {choices: [64, 96]}\nbox: [4.0, 8.0]\n");
  const auto ended =
      run(folder, trials("yolo11n.yaml", 8, {"--space", "space.yaml", "--cache", "ram"}));
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(count(journal(folder / "run"), "failed"), 0);
  std::vector<int> sizes;
  std::string logs;
  for (int trial = 0; trial < 8; ++trial) {
    sizes.push_back(settings_of(folder, trial)["imgsz"].get<int>());
    logs += read_file(trial_folder(folder, trial) / "log");
  }
  const auto runs_of_a_size = std::unique(sizes.begin(), sizes.end()) - sizes.begin();
  EXPECT_GE(runs_of_a_size, 3);
  const auto lines = lines_of(logs);
  EXPECT_EQ(std::ranges::count_if(
                lines, [](const auto& line) { return line.starts_with("Caching images"); }),
            runs_of_a_size);
}

TEST(Ultralytics, ChecksMixedPrecisionOnceForAllTrialsOfAProcess) {
  expect_once("AMP: running checks", {});
}

TEST(Ultralytics, DrawsMosaicsFromAllTheImagesThatItKeeps) {
  Folder folder;
  ASSERT_EQ(run(folder, trials("yolo11n.yaml", 3, {"--cache"})).code, 0);
  for (int trial = 0; trial < 3; ++trial)
    EXPECT_THAT(read_file(trial_folder(folder, trial) / "log"), HasSubstr("Mosaics of all images"));
}

TEST(Ultralytics, StopsAtARung) {
  expect_a_stop_at_a_rung("ultralytics", "yolo11n.yaml");
}

TEST(Ultralytics, TrainsOnNoOtherDeviceThanAskedFor) {
  expect_no_other_device("ultralytics", "yolo11n.yaml");
}

TEST(Ultralytics, LooksAtWhatARunNeedsWithoutAGpu) {
  expect_no_gpu_at_the_start("ultralytics", "yolo11n.yaml");
}

TEST(Ultralytics, FailsWhereItWouldTrainOnAnotherDevice) {
  Folder folder;
  write_data(folder);
  const auto words =
      command_of("ultralytics", trials("gone.yaml", 1, {"--devices", "cuda:0", "--retries", "0"}),
                 {"LD_LIBRARY_PATH=" FAKE_NVML_FOLDER, "TORCH_HAS_CUDA=1",
                  "FAKE_GPUS=name=A,uuid=GPU-11aa,bus=1"});
  EXPECT_EQ(Process(words, folder.path()).wait().code, 1);
  EXPECT_EQ(event(folder, "failed")["kind"], "device_lost");
  EXPECT_EQ(event(folder, "failed")["message"], "Ultralytics takes cpu for cuda:0");
}

// Four steps of 1.5 s before the first batch.
TEST(Ultralytics, IsAliveWhileItLooksOverItsData) {
  Folder folder;
  const auto ended =
      run(folder, trials("slow.yaml", 1, {"--hang-timeout", "5s", "--retries", "0"}));
  EXPECT_EQ(ended.code, 0) << ended.err;
}

TEST(Ultralytics, GoesOnAfterAKill) {
  Folder folder;
  expect_the_same_rows_after_a_kill("ultralytics", "yolo11n.yaml", folder);
}

}  // namespace
}  // namespace evolve::test

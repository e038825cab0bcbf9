// --trainer yolov5: the real worker in Python, with a stand-in for YOLOv5's package.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "python_trainer.hpp"

namespace evolve::test {
namespace {

using nlohmann::json;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::vector<std::string> command(const std::vector<std::string>& arguments,
                                 const std::vector<std::string>& environment = {}) {
  return command_of("yolov5", arguments, environment);
}

Ended run(const Folder& folder, const std::vector<std::string>& arguments) {
  return run_with("yolov5", folder, arguments);
}

/// What YOLOv5's train() was given, and the process that it was called in.
json given(const Folder& folder, int trial) {
  return json::parse(read_file(trial_folder(folder, trial) / "given.json"));
}

/// How the first trial of `model` fails: "kind: message".
std::string failure_of(const std::string& model) {
  return failure_with("yolov5", model);
}

/// What evolve says of a run that cannot start, before anything is written.
std::string said_of(const Folder& folder, const std::vector<std::string>& arguments) {
  return refusal_with("yolov5", folder, arguments);
}

TEST(Yolov5, TrainsTrialAfterTrialInOneProcessPerSlot) {
  Folder folder;
  const auto ended = run(folder, trials("yolov5n.yaml", 6, {"--devices", "cpu:0,cpu:1"}));
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(count(journal(folder / "run"), "completed"), 6);
  std::set<int> processes;
  for (int trial = 0; trial < 6; ++trial) processes.insert(given(folder, trial)["pid"].get<int>());
  EXPECT_LE(processes.size(), 2u);
  EXPECT_THAT(ended.out, HasSubstr("Use it in YOLOv5: python -m yolov5.train --data my.yaml "));
}

TEST(Yolov5, GoesOnWithTheWeightsThatItHasFetchedAndWithNoOthers) {
  Folder folder;
  ASSERT_EQ(run(folder, trials("yolov5s.pt")).code, 0);
  ASSERT_EQ(read_file(folder / "yolov5s.pt"), "fetched");
  const auto ended = resumed(folder, {"--trials", "2", "--model", "yolov5s.pt"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  write_file(folder / "yolov5s.pt", "others");
  EXPECT_THAT(resumed(folder, {"--trials", "3"}).err,
              HasSubstr("these are other weights than the run began with"));
}

TEST(Yolov5, GetsItsOptionsByName) {
  Folder folder;
  const auto ended = run(folder, trials("yolov5n.yaml", 2,
                                        {"--weights",
                                         "yolov5n.pt",
                                         "--batch-size",
                                         "8",
                                         "--freeze",
                                         "0",
                                         "1",
                                         "2",
                                         "--rect",
                                         "--workers",
                                         "2",
                                         "--imgsz",
                                         "64",
                                         "--cos-lr",
                                         "--single-cls",
                                         "--cache",
                                         "disk",
                                         "--image-weights",
                                         "--multi-scale",
                                         "--label-smoothing",
                                         "0.1"}));
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto options = given(folder, 0);
  const json expected = {{"cfg", "yolov5n.yaml"},
                         {"weights", (folder / "yolov5n.pt").string()},  // fetched by its name
                         {"data", (folder / "my.yaml").string()},
                         {"epochs", 2},
                         {"batch_size", 8},
                         {"imgsz", 64},
                         {"optimizer", "SGD"},
                         {"freeze", {0, 1, 2}},
                         {"rect", true},
                         {"workers", 2},
                         {"cos_lr", true},
                         {"single_cls", true},
                         {"cache", "disk"},
                         {"image_weights", true},
                         {"multi_scale", true},
                         {"label_smoothing", 0.1},
                         {"noautoanchor", false},
                         {"patience", 0},
                         {"nosave", true},
                         {"noplots", true},
                         {"evolve", nullptr},
                         {"device", "cpu"},
                         {"save_dir", trial_folder(folder, 0).string()}};
  for (const auto& [name, value] : expected.items()) EXPECT_EQ(options[name], value) << name;
  // Those of trials 0 and 1 where --seed is 0 (tests/ga/random/rng_test.cpp).
  EXPECT_EQ(options["seed"], 266925343);
  EXPECT_EQ(given(folder, 1)["seed"], 1679338179);
}

TEST(Yolov5, StartsAtItsDefaultsAndSearchesItsTable) {
  Folder folder;
  ASSERT_EQ(run(folder, trials("yolov5s.pt")).code, 0);
  const auto options = given(folder, 0);
  EXPECT_EQ(options["weights"], (folder / "yolov5s.pt").string());
  EXPECT_EQ(options["cfg"], "");
  EXPECT_EQ(options["cache"], nullptr);
  EXPECT_EQ(options["hyp"].size(), 29u);
  EXPECT_EQ(options["hyp"]["lr0"], 0.01);
  EXPECT_EQ(options["hyp"]["box"], 0.05);
  EXPECT_EQ(options["hyp"]["anchors"], 3);
  const auto evolves = [](const json& gene) { return gene.value("evolve", true); };
  EXPECT_EQ(std::ranges::count_if(event(folder, "run")["space"], evolves), 13);
}

TEST(Yolov5, CanEvolveItsOptimizer) {
  Folder folder;
  write_file(folder / "space.yaml", "optimizer: {choices: [AdamW, Adam]}\nlr0: [0.001, 0.01]\n");
  const auto ended = run(folder, trials("yolov5n.yaml", 1, {"--space", "space.yaml"}));
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(given(folder, 0)["optimizer"], "AdamW");
  EXPECT_FALSE(given(folder, 0)["hyp"].contains("optimizer"));
  EXPECT_EQ(given(folder, 0)["hyp"]["box"], 0.05);
}

TEST(Yolov5, LeavesTheModelsAnchorsAloneWithoutAutoAnchor) {
  Folder folder;
  ASSERT_EQ(run(folder, trials("yolov5n.yaml", 1, {"--noautoanchor"})).code, 0);
  EXPECT_TRUE(given(folder, 0)["noautoanchor"]);
  EXPECT_FALSE(given(folder, 0)["hyp"].contains("anchors"));
  EXPECT_FALSE(event(folder, "run")["space"].contains("anchors"));
  EXPECT_THAT(read_file(folder / "run/hyp_evolved.yaml"), Not(HasSubstr("anchors:")));
}

TEST(Yolov5, EvolvesNoAnchorsWithoutAutoAnchor) {
  Folder folder;
  EXPECT_THAT(
      said_of(folder,
              trials("yolov5n.yaml", 1, {"--noautoanchor", "--evolve-genes", "lr0,anchors"})),
      HasSubstr(
          "--evolve-genes anchors: with --noautoanchor the model keeps its own; leave out one "
          "of the two"));
}

TEST(Yolov5, IsUsedWithTheOptionsOfItsTrials) {
  Folder folder;
  const auto ended = run(folder, trials("yolov5n.yaml", 1,
                                        {"--imgsz", "64", "--batch-size", "8", "--rect",
                                         "--noautoanchor", "--freeze", "0", "1"}));
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(lines_of(ended.out).back(),
            "Use it in YOLOv5: python -m yolov5.train --data my.yaml --cfg yolov5n.yaml --imgsz 64 "
            "--batch-size 8 --weights '' --hyp run/hyp_evolved.yaml --rect --noautoanchor "
            "--freeze 0 1");
}

// The stand-in's scores: 0.25 for the default scale, then a half, a third, … of it.
TEST(Yolov5, HasTheMetricsOfTheLastEpoch) {
  Folder folder;
  const auto ended = run(folder, trials("yolov5n.yaml"));
  ASSERT_EQ(ended.code, 0) << ended.err;
  const json expected = {{"metrics/precision", 0.25},  {"metrics/recall", 0.125},
                         {"metrics/mAP_0.5", 0.08333}, {"metrics/mAP_0.5:0.95", 0.0625},
                         {"val/box_loss", 0.1},        {"val/obj_loss", 0.3},
                         {"val/cls_loss", 0.2}};
  EXPECT_EQ(event(folder, "completed")["metrics"], expected);
  EXPECT_TRUE(std::filesystem::exists(trial_folder(folder, 0) / "weights/last.pt"));
}

TEST(Yolov5, ValidatesOnlyTheEpochsThatEvolveLooksAt) {
  Folder folder;
  ASSERT_EQ(run(folder, trials("yolov5n.yaml", 1, {"--no-early-stop"})).code, 0);
  const auto rows = lines_of(read_file(trial_folder(folder, 0) / "results.csv"));
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_THAT(rows[1], Not(HasSubstr("0.1")));
  EXPECT_THAT(rows[2], HasSubstr("0.1"));
}

TEST(Yolov5, ValidatesEveryEpochForImageWeights) {
  Folder folder;
  ASSERT_EQ(run(folder, trials("yolov5n.yaml", 1, {"--image-weights"})).code, 0);
  const auto rows = lines_of(read_file(trial_folder(folder, 0) / "results.csv"));
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_THAT(rows[1], HasSubstr("0.1"));
}

TEST(Yolov5, TrainsSeveralClassesAsOne) {
  Folder folder;
  const auto ended = run(folder, trials("yolov5n.yaml", 1, {"--single-cls", "--no-early-stop"}));
  EXPECT_EQ(ended.code, 0) << ended.err;
}

TEST(Yolov5, TrainsAllTrialsOfAProcessWithTheBatchThatAutoBatchFindsFirst) {
  Folder folder;
  ASSERT_EQ(run(folder, trials("yolov5n.yaml", 3, {"--batch-size", "-1"})).code, 0);
  for (int trial = 0; trial < 3; ++trial) EXPECT_EQ(given(folder, trial)["batch"], 23);
}

TEST(Yolov5, SaysWhyATrialFailed) {
  EXPECT_EQ(failure_of("oom.yaml"),
            "oom: RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB");
  EXPECT_EQ(failure_of("nan.yaml"), "diverged: train/obj_loss is nan in epoch 1");
  EXPECT_EQ(failure_of("inf.yaml"), "diverged: train/obj_loss is inf in epoch 1");
  EXPECT_EQ(failure_of("broken.yaml"), "other: ValueError: something else");
  const auto long_one = failure_of("no_image.yaml");
  EXPECT_THAT(long_one, StartsWith("data: AssertionError: Caught"));
  EXPECT_THAT(long_one, EndsWith("AssertionError: train: Image Not Found a.jpg"));
  EXPECT_LT(long_one.size(), 320u);
  EXPECT_THAT(failure_of("class.yaml"), HasSubstr("data: AssertionError: Label class 5 exceeds"));
  EXPECT_EQ(failure_of("no_weights.yaml"),
            "data: FileNotFoundError: [Errno 2] No such file or directory: 'no.pt'");
  EXPECT_EQ(failure_of("killed.yaml"),
            "oom: RuntimeError: DataLoader worker (pid(s) 5) exited unexpectedly (DataLoader "
            "worker (pid 5) is killed by signal: Killed.)");
}

TEST(Yolov5, LosesNoTrainingWhoseWeightsCannotBeWritten) {
  expect_a_training_without_weights("yolov5");
}

TEST(Yolov5, SaysWhyADataSetCouldNotBeFetched) {
  Folder folder;
  write_file(folder / "data.yaml", "path: /yolov5/nowhere\ntrain: images\ndownload: a URL\n");
  const auto ended = run(folder, trials("yolov5n.yaml", 1, {"--data", "data.yaml"}));
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("missing paths ['/yolov5/nowhere/images'] (Exception: no such "
                                   "host); mend it"));
}

TEST(Yolov5, IsRefusedBeforeItTrainsWhatItDoesNotFind) {
  Folder folder;
  write_file(folder / "data.yaml", "names: [a]\n");
  write_file(folder / "relative.yaml", "path: nowhere\ntrain: images\n");
  write_file(folder / "absolute.yaml", "path: /yolov5/nowhere\ntrain: images\n");
  write_file(folder / "typo.yaml", "train: imagse\n");
  EXPECT_THAT(said_of(folder, trials("yolov5n.yaml", 1, {"--data", "data.yaml"})),
              HasSubstr((folder / "data.yaml").string() +
                        "' is no data set of YOLOv5's (data.yaml 'train:' field missing); write "
                        "train:, val: and names:"));
  EXPECT_THAT(said_of(folder, trials("yolov5n.yaml", 1, {"--data", "relative.yaml"})),
              HasSubstr("missing paths ['/yolov5/nowhere/images']; YOLOv5 looks for a relative "
                        "path: beside its own files, so write an absolute one"));
  EXPECT_THAT(
      said_of(folder, trials("yolov5n.yaml", 1, {"--data", "absolute.yaml"})),
      AllOf(HasSubstr("missing paths ['/yolov5/nowhere/images']"), Not(HasSubstr("relative"))));
  EXPECT_THAT(said_of(folder, trials("yolov5n.yaml", 1, {"--data", "typo.yaml"})),
              HasSubstr("typo.yaml': 'train:' images not found, missing path '" +
                        (folder / "imagse").string() + "'"));
  EXPECT_THAT(said_of(folder, trials("nowhere.pt")),
              HasSubstr("FileNotFoundError: 'nowhere.pt' does not exist"));
}

TEST(Yolov5, IsRefusedBeforeItTrainsATableThatIsNotOfIts) {
  Folder folder;
  write_file(folder / "of another package.yaml", "");
  EXPECT_THAT(said_of(folder, trials((folder / "of another package.yaml").string())),
              HasSubstr("of another package.yaml' is no model of YOLOv5's ('depth_multiple'); name "
                        "a table such as yolov5s.yaml"));
}

TEST(Yolov5, IsRefusedBeforeItTrainsWeightsThatAreNotOfIts) {
  Folder folder;
  write_file(folder / "other.pt", "of another package");
  EXPECT_THAT(said_of(folder, trials("other.pt")),
              HasSubstr("other.pt' has no weights of YOLOv5's ('depth_multiple'); name weights of "
                        "YOLOv5's, a .pt file"));
  EXPECT_THAT(said_of(folder, trials("yolov5n.yaml", 1, {"--weights", "my.yaml"})),
              HasSubstr("my.yaml' has no weights; name weights of YOLOv5's, a .pt file"));
  EXPECT_FALSE(std::filesystem::exists(folder / "run"));
}

TEST(Yolov5, DoesNotTrainWhereNoValidationImageHasALabel) {
  expect_wrong_data("yolov5", "yolov5n.yaml", "train: images\nval: unlabelled\n",
                    "no label in the validation images: ");
}

TEST(Yolov5, StopsAtARung) {
  expect_a_stop_at_a_rung("yolov5", "yolov5n.yaml");
}

TEST(Yolov5, TrainsOnNoOtherDeviceThanAskedFor) {
  expect_no_other_device("yolov5", "yolov5n.yaml");
}

TEST(Yolov5, LooksAtWhatARunNeedsWithoutAGpu) {
  expect_no_gpu_at_the_start("yolov5", "yolov5n.yaml");
}

// Four steps of 1.5 s before the first batch.
TEST(Yolov5, IsAliveWhileItLooksOverItsData) {
  Folder folder;
  const auto ended =
      run(folder, trials("slow.yaml", 1, {"--hang-timeout", "5s", "--retries", "0"}));
  EXPECT_EQ(ended.code, 0) << ended.err;
}

TEST(Yolov5, GoesOnAfterAKill) {
  Folder folder;
  expect_the_same_rows_after_a_kill("yolov5", "yolov5n.yaml", folder);
  for (int trial = 0; trial < 40; ++trial)  // what the killed attempt had written is gone
    EXPECT_EQ(lines_of(read_file(trial_folder(folder, trial) / "results.csv")).size(), 3u);
}

TEST(Yolov5, TrainsWithACheckoutOfItsRepository) {
  Folder folder;
  std::filesystem::create_directories(folder / "checkout/models");
  write_file(folder / "checkout/models/yolo.py", "");
  std::filesystem::copy_file(packages + "/yolov5/train.py", folder / "checkout/train.py");
  write_data(folder);
  // Nothing but the checkout has YOLOv5: the package's stand-in is not to be found.
  std::filesystem::create_directory(folder / "others");
  for (const auto* name : {"numpy.py", "torch.py", "tqdm.py"})
    std::filesystem::copy_file(packages + "/" + name, folder / "others" / name);
  const auto others = "PYTHONPATH=" + (folder / "others").string();
  const auto words = command(trials("yolov5n.yaml"), {"EVOLVE_YOLOV5=checkout", others});
  const auto ended = Process(words, folder.path()).wait();
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(given(folder, 0)["cfg"], "yolov5n.yaml");
}

TEST(Yolov5, IsRefusedWithoutWhatItNeeds) {
  expect_refusal(command({"--model", "yolov5s.pt"}),
                 "--trainer yolov5 needs a data set; name one with --data, such as coco128.yaml");
  expect_refusal(command({"--data", "my.yaml"}),
                 "--trainer yolov5 needs a model; name one with --model, such as yolov5s.pt");
  expect_refusal(command(trials("yolov5s.pt", 1, {"--no-amp"})),
                 "--no-amp: yolov5 has no such option; leave it out");
  expect_refusal(command(trials("yolov5s.pt", 1, {"--optimizer", "Lion"})),
                 "--optimizer Lion: there is no such optimizer; choose SGD, Adam or AdamW");
  expect_refusal(command(trials("yolov5s.pt"), {"EVOLVE_YOLOV5=images"}),
                 "EVOLVE_YOLOV5: images has no train.py; name a checkout of YOLOv5's repository, "
                 "or leave it out for the package");
}

TEST(Yolov5, RefusesAHyperparameterThatYolov5DoesNotHave) {
  Folder folder;
  write_file(folder / "hyp.yaml", "lr0: 0.01\ncutmix: 0.5\n");
  EXPECT_THAT(said_of(folder, trials("yolov5n.yaml", 1, {"--hyp", "hyp.yaml"})),
              HasSubstr("'cutmix' means nothing to the yolov5 trainer"));
}

TEST(Yolov5, RefusesAnOptimizerThatItCannotBeToldToUse) {
  Folder folder;
  write_file(folder / "space.yaml", "optimizer: {choices: [SGD, RMSProp]}\n");
  EXPECT_THAT(said_of(folder, trials("yolov5n.yaml", 1, {"--space", "space.yaml"})),
              HasSubstr("space.yaml:1: optimizer: RMSProp cannot be trained with"));
}

TEST(Yolov5, RefusesDataThatItWouldNotFind) {
  Folder folder;
  EXPECT_THAT(said_of(folder, trials("yolov5n.yaml", 1, {"--data", "images"})),
              HasSubstr("/images' is a folder; name the data set's YAML file"));
  std::filesystem::create_directory(folder / "set [1]");
  write_file(folder / "other.yaml", "train: set [1]\n");
  EXPECT_THAT(said_of(folder, trials("yolov5n.yaml", 1, {"--data", "other.yaml"})),
              HasSubstr("for it takes [, ? and * for a pattern; rename the folder"));
}

}  // namespace
}  // namespace evolve::test

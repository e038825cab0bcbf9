// `evolve train` and `evolve val` with a stand-in for evolve-worker, which lies beside a copy of
// evolve.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "process.hpp"
#include "tests/trainer/checkpoint/pickle_text.hpp"

namespace evolve::test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using namespace std::string_literals;

/// A folder with a copy of evolve and a worker that behaves like this.
class Stage : public Folder {
 public:
  explicit Stage(const std::string& mode = "ok") {
    fs::create_directories(*this / "bin");
    std::error_code elsewhere;  // another disk; a sanitizer's build is too large for copies
    fs::create_hard_link(EVOLVE_BINARY, *this / "bin/evolve", elsewhere);
    if (elsewhere) fs::copy_file(EVOLVE_BINARY, *this / "bin/evolve");
    write_file(*this / "bin/evolve-worker",
               std::string("#!/bin/sh\nexec '") + FAKE_WORKER + "' ready '" + mode + "'\n");
    fs::permissions(*this / "bin/evolve-worker", fs::perms::owner_all);
  }

  std::vector<std::string> command(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), (*this / "bin/evolve").string());
    return arguments;
  }
  Ended evolve(std::vector<std::string> arguments) const {
    return Process(command(std::move(arguments)), path()).wait();
  }
  /// What the worker was sent.
  nlohmann::json message(const std::string& run) const {
    return nlohmann::json::parse(read_file(*this / (run + "/message")));
  }
};

/// The names of the files in a folder.
std::vector<std::string> files_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

void expect_refusal(const Stage& stage, const std::vector<std::string>& arguments,
                    const std::string& line) {
  const auto ended = stage.evolve(arguments);
  EXPECT_EQ(ended.code, 2) << ended.out;
  EXPECT_EQ(ended.err, "evolve: " + line + "\n");
  EXPECT_EQ(ended.out, "");
  EXPECT_FALSE(fs::exists(stage / "runs"));
}

TEST(TrainCommand, LeavesAFolderWithEverything) {
  const Stage stage;
  const auto ended = stage.evolve({"train", "--epochs", "2"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto run = stage / "runs/train/exp";
  // "message" and "pid" are the stand-in's own.
  EXPECT_THAT(files_in(run), ElementsAre("hyp.yaml", "log", "message", "opt.yaml", "pid",
                                         "results.csv", "results.png"));
  EXPECT_EQ(lines_of(read_file(run / "results.csv")).size(), 3u);
  EXPECT_EQ(read_file(run / "log"), "a word from the log\n");
  EXPECT_THAT(read_file(run / "opt.yaml"), HasSubstr("epochs: 2\n"));
  EXPECT_THAT(read_file(run / "hyp.yaml"), HasSubstr("lr0: 0.01\n"));
  EXPECT_THAT(ended.out, HasSubstr("weights/best.pt, of epoch 0:\n"));
  EXPECT_THAT(ended.out, HasSubstr("results in runs/train/exp\n"));
  EXPECT_EQ(stage.evolve({"train", "--epochs", "2"}).code, 0);
  EXPECT_TRUE(fs::exists(stage / "runs/train/exp2/results.csv"));
}

TEST(TrainCommand, TrainsWithYolov5sHypAndTheModelsAnchors) {
  const Stage stage;
  ASSERT_EQ(stage.evolve({"train", "--seed", "7", "--cos-restarts", "5,2"}).code, 0);
  const auto message = stage.message("runs/train/exp");
  EXPECT_EQ(message["hyp"].size(), 28u);
  EXPECT_FALSE(message["hyp"].contains("anchors"));
  EXPECT_EQ(message["seed"], 7);
  EXPECT_EQ(message["resume"], false);
  EXPECT_EQ(message["options"]["restart_factor"], 2);
}

TEST(TrainCommand, TakesWhatAnEvolutionFound) {
  const Stage stage;
  write_file(stage / "hyp_evolved.yaml",
             "# YOLOv5 Hyperparameter Evolution Results\n# Best generation: 1\n\nlr0: 0.02\n"
             "anchors: 4.0\noptimizer: AdamW\n");
  ASSERT_EQ(stage.evolve({"train", "--hyp", "hyp_evolved.yaml"}).code, 0);
  const auto hyp = stage.message("runs/train/exp")["hyp"];
  EXPECT_EQ(hyp["lr0"], 0.02);
  EXPECT_EQ(hyp["anchors"], 4);
  EXPECT_EQ(hyp["optimizer"], "AdamW");
  EXPECT_EQ(hyp["momentum"], 0.937) << "YOLOv5's where the file has none";
}

TEST(TrainCommand, SaysThatItStoppedEarly) {
  const auto ended = Stage("stops early").evolve({"train", "--patience", "1", "--epochs", "9"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out,
              HasSubstr("Stopped early: no improvement in the last 1 epoch; the best results are "
                        "those of epoch 0. (A training with a larger --patience waits longer, with "
                        "0 for ever.)\nweights/best.pt, of epoch 0:\n"));
}

TEST(TrainCommand, GoesOnWithNoCpuWhereItHadAGpu) {
  const Stage stage;
  ASSERT_EQ(stage.evolve({"train", "--epochs", "2"}).code, 0);
  write_file(stage / "runs/train/exp/weights/last.pt", "");
  const auto options = stage / "runs/train/exp/opt.yaml";
  const auto kept = read_file(options);
  const std::string here = "slot: cpu\n";
  ASSERT_THAT(kept, HasSubstr("devices: auto\n"));
  ASSERT_THAT(kept, HasSubstr(here));
  EXPECT_EQ(stage.evolve({"train", "--resume"}).code, 0);
  write_file(options, std::string(kept).replace(kept.find(here), here.size(), "slot: cuda:0\n"));
  const auto refused = stage.evolve({"train", "--resume"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("evolve: --devices auto: the run had cuda:0, and now auto "
                                     "finds none of that kind (auto: "));
  EXPECT_EQ(stage.evolve({"train", "--resume", "--device", "cpu"}).code, 0);
}

TEST(TrainCommand, EndsWith1WhenTheTrainerDies) {
  const Stage stage("crash");
  const auto ended = stage.evolve({"train"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(ended.err,
            "evolve: the trainer failed (crash): exit code 3: RuntimeError: boom; see "
            "runs/train/exp/log\n");
  EXPECT_EQ(read_file(stage / "runs/train/exp/log"),
            "a word from the log\nloading\nRuntimeError: boom\n\n"
            "failed (crash): exit code 3: RuntimeError: boom\n");
  EXPECT_EQ(lines_of(read_file(stage / "runs/train/exp/results.csv")).size(), 2u);
}

TEST(TrainCommand, EndsWith2WhereTheTrainerFindsFaultWithTheInput) {
  const auto ended = Stage("bad data").evolve({"train"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.err, "evolve: a.pt: this is no checkpoint; name one\n");
}

TEST(TrainCommand, IsInterruptedWithItsStateSaved) {
  for (const auto& [signal, code] : {std::pair(SIGINT, 130), std::pair(SIGTERM, 143)}) {
    const Stage stage("stubborn");
    Process evolve(stage.command({"train", "--epochs", "2"}), stage.path());
    const auto run = stage / "runs/train/exp";
    ASSERT_TRUE(eventually([&] { return fs::exists(run / "results.csv"); }));
    evolve.signal(signal);
    const auto ended = evolve.wait();
    EXPECT_EQ(ended.code, code) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("Interrupted after 1 of 2 epochs. Go on with: evolve train "
                                     "--resume runs/train/exp\n"));
    EXPECT_FALSE(alive(std::stoi(read_file(run / "pid"))));
  }
}

TEST(TrainCommand, HasAFolderForItself) {
  const Stage stage("hang");
  const Process first(stage.command({"train"}), stage.path());
  ASSERT_TRUE(eventually([&] { return fs::exists(stage / "runs/train/exp/pid"); }));
  const auto second = stage.evolve({"train", "--resume"});
  EXPECT_EQ(second.code, 2);
  EXPECT_EQ(second.err,
            "evolve: runs/train/exp/log: another evolve is at work on this run; wait until it "
            "ends, or choose another folder\n");
}

TEST(TrainCommand, GoesOnFromTheLastWeightsOfTheNewestRun) {
  const Stage stage;
  ASSERT_EQ(stage.evolve({"train", "--seed", "7"}).code, 0);
  write_file(stage / "runs/train/exp/weights/last.pt", "");
  ASSERT_EQ(stage.evolve({"train", "--resume", "--device", "cpu:0"}).code, 0);
  EXPECT_EQ(stage.message("runs/train/exp")["resume"], true);
  EXPECT_EQ(stage.message("runs/train/exp")["seed"], 7);
  fs::remove(stage / "runs/train/exp/weights/last.pt");
  const auto refused = stage.evolve({"train", "--resume", "runs/train/exp"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_EQ(refused.err,
            "evolve: runs/train/exp/weights/last.pt: it is gone, and epochs of this training had "
            "ended; bring it back, or begin another training\n");
  fs::remove(stage / "runs/train/exp/results.csv");
  const auto ended = stage.evolve({"train", "--resume", "runs/train/exp"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("no epoch had ended, so it starts afresh"));
  EXPECT_EQ(stage.message("runs/train/exp")["resume"], false);
  EXPECT_EQ(lines_of(read_file(stage / "runs/train/exp/results.csv")).size(), 3u);
}

TEST(TrainCommand, RefusesOtherOptionsOnResume) {
  const Stage stage;
  ASSERT_EQ(stage.evolve({"train", "--epochs", "2"}).code, 0);
  const auto ended = stage.evolve({"train", "--resume", "--epochs", "3"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.err,
            "evolve: --epochs 3: the run to resume has 2; leave the option out, or start a new "
            "run\n");
  write_file(stage / "runs/train/exp/opt.yaml", "epochs: many\n");
  EXPECT_EQ(stage.evolve({"train", "--resume"}).code, 2);
}

TEST(TrainCommand, ForgetsAnEarlierTrainingOnlyWhenItMay) {
  const Stage stage;
  ASSERT_EQ(stage.evolve({"train", "--output", "run"}).code, 0);
  write_file(stage / "run/weights/last.pt", "");
  const auto ended = stage.evolve({"train", "--output", "run"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.err,
            "evolve: run: this folder holds a run already; go on with it (--resume), or choose "
            "another folder\n");
  EXPECT_TRUE(fs::exists(stage / "run/weights/last.pt"));
  ASSERT_EQ(stage.evolve({"train", "--output", "run", "--exist-ok"}).code, 0);
  EXPECT_FALSE(fs::exists(stage / "run/weights/last.pt")) << "a resume would take it up";
  EXPECT_EQ(read_file(stage / "run/log"), "a word from the log\n");
}

TEST(TrainCommand, RefusesWhatIsWrongBeforeItWritesAnything) {
  const Stage stage;
  write_file(stage / "hyp.yaml", "lr0: 0.01\nfoo: 3\n");
  expect_refusal(
      stage, {"train", "--hyp", "hyp.yaml"},
      (stage / "hyp.yaml").string() + ":2: 'foo' means nothing to the built-in trainer; remove it");
  expect_refusal(stage, {"train", "--weights", "no.pt"},
                 "no.pt: there is no such file; name a .pt file that is there");
  expect_refusal(stage, {"train", "--data", "no.yaml"},
                 "no.yaml: there is no such file; give a data YAML, or 'shapes' for the embedded "
                 "data set");
  expect_refusal(stage, {"train", "--devices", "cpu:0,cpu:1"},
                 "--devices cpu:0,cpu:1: one training has one device; name one of them, such as "
                 "cpu:0, or join those of a kind, as in cuda:0+cuda:1");
  expect_refusal(stage, {"train", "--imgsz", "100"},
                 "--imgsz 100: image sizes are multiples of 32 pixels, 64 at least; write 128");
  expect_refusal(stage, {"train", "--evolve", "300"},
                 "evolve train --evolve; plain evolve evolves: leave out train --evolve");
  expect_refusal(stage, {"--epochs", "3", "train"},
                 "--epochs stands before the command train; write evolve train --epochs …");
  expect_refusal(stage, {"train", "--resume"},
                 "runs/train: there is no training in this folder to go on with; name the folder "
                 "of a training: --resume runs/train/exp");
}

TEST(TrainCommand, WritesNothingOutsideItsFolderWhateverADataSetSays) {
  const Stage stage;
  ASSERT_EQ(stage.evolve({"dataset", "shapes", "shapes/"}).out, "shapes/shapes.yaml\n");
  write_file(stage / "deep/er/my.yaml",
             "path: ../../shapes\ntrain: images/train\n"
             "val: images/val\ntest: images/test\n"
             "names: [../../up, '" +
                 (stage / "up").string() +
                 "', '$(touch up)', '`touch up`', "
                 "'; touch up']\n");
  const auto all = [&] {
    std::vector<std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(stage.path()))
      if (entry.path().string().find("/runs") == std::string::npos)
        files.push_back(entry.path().string());
    std::sort(files.begin(), files.end());
    return files;
  };
  const auto before = all();
  const auto data = (stage / "deep/er/my.yaml").string();
  EXPECT_EQ(stage.evolve({"train", "--data", data, "--epochs", "2"}).code, 0);
  EXPECT_EQ(all(), before);
}

TEST(TrainCommand, LeavesAFolderThatIsDrawnAgain) {
  const Stage stage;
  ASSERT_EQ(stage.evolve({"train", "--epochs", "2"}).code, 0);
  const auto picture = stage / "runs/train/exp/results.png";
  const auto own = read_file(picture);
  fs::remove(picture);
  const auto ended = stage.evolve({"plot", "runs/train/exp"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.out, "runs/train/exp/results.png\n");
  EXPECT_EQ(read_file(picture), own);
}

TEST(ValCommand, PrintsTheTableAndWritesTheNumbers) {
  const Stage stage;
  const auto ended = stage.evolve(
      {"val", "--weights", "shapes-base", "--task", "test", "--no-rect", "--json", "out.json"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("                 all         2         3       0.5      0.25 "
                                   "     0.75       0.5\n"));
  EXPECT_THAT(ended.out, HasSubstr("Speed: 1.0 ms inference, 2.0 ms NMS per image at 96 px"));
  EXPECT_THAT(ended.out, HasSubstr("results in runs/val/exp\n"));
  const auto json = nlohmann::json::parse(read_file(stage / "out.json"));
  EXPECT_EQ(json["mAP_0.5:0.95"], 0.5);
  const auto message = stage.message("runs/val/exp");
  EXPECT_EQ(message["split"], "test");
  EXPECT_EQ(message["rect"], false);
  EXPECT_EQ(message["options"]["batch_size"], 32);
}

TEST(ValCommand, FailsWhereItsTableCannotBeWrittenAndATrainingDoesNot) {
  const Stage stage;
  const auto printed_to_a_full_disk = [&](const std::vector<std::string>& arguments) {
    std::vector<std::string> command = {"/bin/sh", "-c", "exec \"$@\" >/dev/full", "sh"};
    const auto words = stage.command(arguments);
    command.insert(command.end(), words.begin(), words.end());
    return Process(command, stage.path()).wait();
  };
  const auto val = printed_to_a_full_disk({"val", "--weights", "shapes-base"});
  EXPECT_EQ(val.code, 1);
  EXPECT_EQ(val.err,
            "evolve: standard output: cannot write all of it; make room, or print it elsewhere\n");
  const auto train = printed_to_a_full_disk({"train", "--epochs", "2"});
  EXPECT_EQ(train.code, 0);
  EXPECT_EQ(train.err, "");
}

TEST(ValCommand, EndsWith2WhereTheTrainerFindsFaultWithTheWeights) {
  const Stage stage("bad data");
  const auto ended = stage.evolve({"val", "--weights", "shapes-base"});
  EXPECT_EQ(ended.code, 2) << ended.out;
  EXPECT_EQ(ended.err, "evolve: a.pt: this is no checkpoint; name one\n");
}

TEST(Weights, ThatDoNotTellTheirTableNeedCfgOfTheirModel) {
  const Stage stage;
  write_file(
      stage / "bare.pt",
      zip({{.name = "bare/data.pkl", .bytes = pickled(dict({{text("w"), tensor("0", 1)}}))}}));
  const std::string weights = (stage / "bare.pt").string();
  const std::string data = (stage / "my.yaml").string();
  for (const std::vector<std::string>& arguments :
       {std::vector{"--data"s, data, "--weights"s, weights, "--output"s, "run"s},
        {"train", "--data", data, "--weights", weights},
        {"val", "--weights", weights}}) {
    expect_refusal(stage, arguments,
                   weights +
                       ": the file does not tell its model table; add --cfg, for instance "
                       "--cfg yolov5s.yaml");
  }
  for (const std::vector<std::string>& arguments :
       {std::vector{"--data"s, data, "--output"s, "run"s}, {"train", "--data", data}, {"val"}}) {
    auto with_cfg = arguments;
    with_cfg.insert(with_cfg.end(), {"--weights", weights, "--cfg", "yolov5n.yaml"});
    expect_refusal(stage, with_cfg,
                   weights +
                       ": none of its 1 tensors fits the model; choose the --cfg that the weights "
                       "were trained with");
  }
}

TEST(ValCommand, RefusesWhatIsWrongBeforeItWritesAnything) {
  const Stage stage;
  expect_refusal(stage, {"val", "--data", "my.yaml"},
                 "there are no --weights; name a .pt file with --weights");
  expect_refusal(stage, {"val"}, "there are no --weights; name a .pt file with --weights");
  expect_refusal(stage, {"val", "--weights", "", "--cfg", "yolov5s.yaml"},
                 "there are no --weights; name a .pt file with --weights");
  expect_refusal(stage, {"val", "--weights", "shapes-base", "--json", "no/out.json"},
                 "no/out.json: there is no folder " + (stage / "no").string() +
                     "; make it, or name another file");
  expect_refusal(stage, {"val", "--weights", "no.pt"},
                 "no.pt: there is no such file; name a .pt file that is there");
  expect_refusal(stage, {"val", "--weights", "yolov5n.pt"},
                 "yolov5n.pt: there is no such file; evolve downloads nothing: get it from "
                 "https://github.com/ultralytics/yolov5/releases");
  expect_refusal(stage, {"val", "--weights", "yolo11n.pt"},
                 "yolo11n.pt: there is no such file; a model of Ultralytics' is trained with "
                 "--trainer ultralytics --model");
  expect_refusal(stage, {"val", "--task", "speed"},
                 "--task: speed not in {val,test,train}; see evolve val --help");
}

}  // namespace
}  // namespace evolve::test

// `evolve train` and `evolve val` with the built-in trainer: real trainings, as short as they can
// be.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "process.hpp"

namespace evolve::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

/// `evolve ARGUMENTS` on one core: two threads would mostly wait for each other here.
std::vector<std::string> on_one_core(std::vector<std::string> arguments) {
  auto command = evolve_command(std::move(arguments));
  command.insert(command.begin(), {"/usr/bin/taskset", "-c", some_core()});
  return command;
}

Ended run(const Folder& folder, std::vector<std::string> arguments) {
  return Process(on_one_core(std::move(arguments)), folder.path()).wait();
}

/// `evolve train` on shapes, each epoch a second or less, into `output`.
std::vector<std::string> training(const std::string& output, int epochs) {
  return {"train",  "--imgsz", "64",       "--epochs", std::to_string(epochs),
          "--seed", "4",       "--output", output};
}

/// A training that has come to its end.
Ended trained(const Folder& folder, const std::string& output, int epochs = 1) {
  auto ended = run(folder, training(output, epochs));
  EXPECT_EQ(ended.code, 0) << ended.err << ended.out;
  return ended;
}

/// What `evolve val --json` says of weights.
nlohmann::json validated(const Folder& folder, const std::string& weights,
                         Ended* screen = nullptr) {
  const auto ended =
      run(folder, {"val", "--weights", weights, "--imgsz", "64", "--json", "val.json"});
  EXPECT_EQ(ended.code, 0) << ended.err << ended.out;
  if (screen) *screen = ended;
  return nlohmann::json::parse(read_file(folder / "val.json"));
}

/// Starts this and sends it a signal once the training in `output` has so many epochs behind it.
int cut(const Folder& folder, std::vector<std::string> arguments, const std::string& output,
        std::size_t epochs, int signal) {
  Process evolve(on_one_core(std::move(arguments)), folder.path());
  const auto csv = folder / (output + "/results.csv");
  EXPECT_TRUE(eventually([&] { return lines_of(read_file(csv)).size() > epochs; }));
  evolve.signal(signal);
  return evolve.wait().code;
}

TEST(Train, LeavesWeightsResultsAndImages) {
  const Folder folder;
  const auto ended = trained(folder, "run");
  for (const auto* file :
       {"weights/best.pt", "weights/last.pt", "results.csv", "results.png", "opt.yaml", "hyp.yaml",
        "log", "val_batch0_labels.jpg", "val_batch0_pred.jpg"})
    EXPECT_GT(fs::file_size(folder / ("run/" + std::string(file))), 0u) << file;
  EXPECT_EQ(lines_of(read_file(folder / "run/results.csv")).size(), 2u);
  EXPECT_THAT(ended.out, HasSubstr("Transferred "));
  EXPECT_THAT(ended.out, HasSubstr("     0/0      0G"));
}

TEST(Train, GoesOnAfterCutsAsIfThereHadBeenNone) {
  const Folder folder;
  trained(folder, "whole", 4);
  EXPECT_EQ(cut(folder, training("cut", 4), "cut", 1, SIGKILL), 128 + SIGKILL);
  EXPECT_EQ(cut(folder, {"train", "--resume", "cut"}, "cut", 2, SIGINT), 130);
  EXPECT_LT(lines_of(read_file(folder / "cut/results.csv")).size(), 5u);
  const auto resumed = run(folder, {"train", "--resume", "cut"});
  ASSERT_EQ(resumed.code, 0) << resumed.err << resumed.out;
  for (const std::string file : {"results.csv", "weights/best.pt"})
    EXPECT_EQ(read_file(folder / ("cut/" + file)), read_file(folder / ("whole/" + file))) << file;
  EXPECT_EQ(validated(folder, "cut/weights/last.pt"), validated(folder, "whole/weights/last.pt"));
}

TEST(Train, WithSeveralFrozenLayersGoesOn) {
  const Folder folder;
  auto arguments = training("cut", 3);
  arguments.insert(arguments.end(), {"--freeze", "0", "1"});
  EXPECT_EQ(cut(folder, arguments, "cut", 1, SIGINT), 130);
  const auto resumed = run(folder, {"train", "--resume", "cut"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(lines_of(read_file(folder / "cut/results.csv")).size(), 4u);
}

TEST(Train, RefusesToFreezeLayersThatTheModelHasNotOrThatAreAll) {
  const Folder folder;
  const auto refused = [&](std::vector<std::string> layers) {
    layers.insert(layers.begin(), {"train", "--cfg", "yolov5n.yaml", "--freeze"});
    return run(folder, layers).err;
  };
  EXPECT_THAT(refused({"25"}), HasSubstr("--freeze 25: nothing would be left to train; the model "
                                         "has 25 layers"));
  EXPECT_THAT(refused({"1", "30"}),
              HasSubstr("--freeze 1 30: the model has no such layer; its layers are 0 to 24"));
}

TEST(Train, StartsFromTheWeightsOfTheTrainingThatItReplaces) {
  const Folder folder;
  trained(folder, "run");
  for (const std::string weights : {"run/weights/best.pt", "run/weights/last.pt"}) {
    const auto before = read_file(folder / weights);
    auto arguments = training("run", 1);
    arguments.insert(arguments.end(), {"--exist-ok", "--weights", weights});
    const auto ended = run(folder, arguments);
    ASSERT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("Transferred 349/349 items from " +
                                     (folder / "run/weights/start.pt").string()));
    EXPECT_EQ(read_file(folder / "run/weights/start.pt"), before);
    EXPECT_NE(read_file(folder / weights), before);
  }
}

TEST(Train, LeavesWeightsThatEvolutionsStartFromAndThatYolov5NeedsExported) {
  const Folder folder;
  trained(folder, "run");
  ASSERT_EQ(run(folder, {"dataset", "shapes", "shapes"}).code, 0);
  const auto ended =
      run(folder, {"--data", "shapes/shapes.yaml", "--weights", "run/weights/best.pt", "--imgsz",
                   "64", "--epochs", "1", "--fraction", "0.1", "--trials", "1", "--devices",
                   "cpu:0", "--output", "evolution"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(
      ended.out,
      HasSubstr("Use it in YOLOv5: evolve export yolov5 run/weights/best.pt && python "
                "train.py --data shapes/shapes.yaml --weights run/weights/best_yolov5.pt "));
}

TEST(Train, IsValidatedAtTheSizeThatIsAskedFor) {
  const Folder folder;
  trained(folder, "run");
  const auto at = [&](const std::string& imgsz) {
    const auto ended = run(folder, {"val", "--weights", "run/weights/best.pt", "--imgsz", imgsz,
                                    "--json", "val.json"});
    EXPECT_THAT(ended.out, HasSubstr(" at " + imgsz + " px, "));
    return read_file(folder / "val.json");
  };
  EXPECT_NE(at("32"), at("64"));
}

TEST(Train, KeepsWeightsOfClassesWhoseNamesAreAlikeOrNotUtf8) {
  const Folder folder;
  ASSERT_EQ(run(folder, {"dataset", "shapes", "shapes"}).code, 0);
  auto yaml = read_file(folder / "shapes/shapes.yaml");
  write_file(folder / "shapes/shapes.yaml",
             yaml.substr(0, yaml.find("names:")) + "names: [cell, cell, caf\xe9]\n");
  auto arguments = training("run", 1);
  arguments.insert(arguments.end(), {"--data", "shapes/shapes.yaml"});
  const auto ended = run(folder, arguments);
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto validation =
      run(folder, {"val", "--data", "shapes/shapes.yaml", "--weights", "run/weights/best.pt",
                   "--imgsz", "64", "--json", "val.json"});
  ASSERT_EQ(validation.code, 0) << validation.err;
  std::vector<std::string> names;
  const auto json = nlohmann::ordered_json::parse(read_file(folder / "val.json"));
  for (const auto& [name, scores] : json["classes"].items()) names.push_back(name);
  EXPECT_THAT(names, testing::ElementsAre("cell", "cell (2)", "caf\ufffd"));
}

TEST(Train, LeavesAnotherProgramsTrainingAlone) {
  const Folder folder;
  for (const std::string file : {"results.csv", "hyp.yaml", "weights/last.pt", "opt.yaml", "log"}) {
    fs::remove_all(folder / "theirs");
    fs::create_directories(folder / "theirs/weights");
    write_file(folder / "theirs" / file, "save_dir: theirs\n");
    for (const bool exist_ok : {false, true}) {
      auto arguments = training("theirs", 1);
      if (exist_ok) arguments.push_back("--exist-ok");
      const auto refused = run(folder, arguments);
      EXPECT_EQ(refused.code, 2) << refused.out;
      EXPECT_EQ(refused.err, "evolve: theirs/" + file +
                                 ": this file is not of a training by evolve, and would be "
                                 "overwritten; choose another folder\n");
      EXPECT_EQ(read_file(folder / "theirs" / file), "save_dir: theirs\n");
      EXPECT_EQ(fs::exists(folder / "theirs/log"), file == "log");
    }
  }
}

TEST(Train, GoesOnWithNoTrainingOfYolov5) {
  const Folder folder;
  fs::create_directories(folder / "theirs/weights");
  for (const std::string file : {"hyp.yaml", "weights/last.pt"})
    write_file(folder / "theirs" / file, "");
  write_file(folder / "theirs/opt.yaml", "hyp:\n  lr0: 0.01\nsave_dir: theirs\n");
  const auto refused = run(folder, {"train", "--resume", "theirs"});
  EXPECT_EQ(refused.code, 2) << refused.out;
  EXPECT_EQ(refused.err,
            "evolve: theirs/opt.yaml: this is a training by YOLOv5; start from what it has learnt: "
            "--weights theirs/weights/last.pt\n");
}

TEST(Train, SaysThatAFileWouldBeLargerThanALimit) {
  const Folder folder;
  auto words = evolve_command(training("run", 1));
  words.insert(words.begin(), {"/bin/sh", "-c", "ulimit -f 1000; exec \"$@\"", "sh"});
  const auto ended = Process(words, folder.path()).wait();
  EXPECT_EQ(ended.code, 1) << ended.out;
  EXPECT_THAT(ended.err,
              HasSubstr("weights/last.pt: the weights cannot be written (File too large)"));
}

TEST(Train, ThatIsFinishedSaysSoOnResume) {
  const Folder folder;
  trained(folder, "run");
  const auto csv = read_file(folder / "run/results.csv");
  fs::remove(folder / "run/results.csv");
  const auto again = run(folder, {"train", "--resume", "run/weights/last.pt"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("run is finished, after 1 epoch\n"));
  EXPECT_THAT(again.out, Not(HasSubstr("going on")));
  EXPECT_EQ(read_file(folder / "run/results.csv"), csv);
}

TEST(Train, ThatIsFinishedWaitsForNothingMore) {
  const Folder folder;
  trained(folder, "run");
  const auto options = read_file(folder / "run/opt.yaml");
  const auto again = run(folder, {"train", "--resume", "run", "--patience", "7"});
  EXPECT_EQ(again.code, 2) << again.out;
  EXPECT_EQ(again.err,
            "evolve: --patience 7: run has ended; begin another training from the weights that it "
            "has left\n");
  EXPECT_EQ(read_file(folder / "run/opt.yaml"), options);
}

TEST(Train, RefusesAnotherOptimizerThanTheHyperparametersHave) {
  const Folder folder;
  write_file(folder / "hyp.yaml", "optimizer: SGD\n");
  const auto ended = run(folder, {"train", "--hyp", "hyp.yaml", "--optimizer", "AdamW"});
  EXPECT_EQ(ended.code, 2) << ended.out;
  EXPECT_EQ(ended.err,
            "evolve: --optimizer AdamW: the hyperparameters have SGD, which would be used; leave "
            "out one of the two\n");
}

TEST(Val, AgreesWithTheTrainingAndWithItsJson) {
  const Folder folder;
  const auto train = trained(folder, "run");
  Ended val;
  const auto json = validated(folder, "run/weights/best.pt", &val);
  const auto row = [](const std::string& name, const nlohmann::json& of) {
    return fmt::format("{:>20}{:>10}{:>10}{:>10.3g}{:>10.3g}{:>10.3g}{:>10.3g}\n", name, 100,
                       of["labels"].get<int>(), of["precision"].get<double>(),
                       of["recall"].get<double>(), of["mAP_0.5"].get<double>(),
                       of["mAP_0.5:0.95"].get<double>());
  };
  const auto all = row("all", json);
  for (const auto& [name, of] : json["classes"].items())
    EXPECT_THAT(val.out, HasSubstr(row(name, of)));
  EXPECT_GT(json["classes"].size(), 1u);
  EXPECT_THAT(val.out, HasSubstr(all));
  EXPECT_THAT(train.out, HasSubstr("weights/best.pt, of epoch"));
  EXPECT_THAT(train.out.substr(train.out.find("weights/best.pt, of")), HasSubstr(all));
  EXPECT_TRUE(fs::exists(folder / "runs/val/exp/val_batch0_pred.jpg"));
}

TEST(Val, NeedsWeightsThatAreWeights) {
  const Folder folder;
  write_file(folder / "a.pt", "no weights");
  EXPECT_THAT(refusal_of(evolve(folder.path(), {"val", "--weights", "a.pt"})),
              HasSubstr("/a.pt: "));
}

}  // namespace
}  // namespace evolve::test

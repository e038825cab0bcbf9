// A data set is looked over before anything trains: what is wrong gets one line with file and line.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "process.hpp"

namespace evolve::test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// The embedded data set on disk, to be damaged.
class DataSet : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(evolve(folder.path(), {"dataset", "shapes", "shapes"}).code, 0);
  }

  /// `evolve --data shapes/shapes.yaml --dry-run`
  Ended look() {
    return evolve(folder.path(),
                  {"--data", "shapes/shapes.yaml", "--cfg", "yolov5p.yaml", "--dry-run"});
  }

  void expect_refusal(const std::vector<std::string>& parts) {
    const auto said = refusal_of(look());
    for (const auto& part : parts) EXPECT_THAT(said, HasSubstr(part));
  }

  Folder folder;
};

TEST_F(DataSet, InOrderIsCounted) {
  const auto ended = look();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("train: 240 images"));
  EXPECT_THAT(ended.out, HasSubstr("val: 100 images"));
}

TEST_F(DataSet, OfImagesThatAreNoWholeStridesOfTheModelIsRefused) {
  const auto ended = evolve(folder.path(), {"--data", "shapes/shapes.yaml", "--cfg", "yolov5n6",
                                            "--imgsz", "96", "--dry-run"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(
      ended.err,
      "evolve: --imgsz 96: this model's image sizes are multiples of 64 pixels, 128 at least; "
      "write 128\n");
  // A training's have two strides.
  const auto small = evolve(folder.path(), {"--data", "shapes/shapes.yaml", "--cfg", "yolov5n6",
                                            "--imgsz", "64", "--dry-run"});
  EXPECT_EQ(small.code, 2);
  EXPECT_THAT(small.err, HasSubstr("of 64 pixels, 128 at least; write 128\n"));
}

// "0 to ignore", say YOLOv5's hyp files of anchors.
TEST_F(DataSet, MayBeTrainedWithNoAnchorsOfTheHypFilesWhereTheModelKeepsItsOwn) {
  write_file(folder / "hyp.yaml", "anchors: 0\n");
  const auto ended = evolve(folder.path(), {"--data", "shapes/shapes.yaml", "--cfg", "yolov5p.yaml",
                                            "--hyp", "hyp.yaml", "--noautoanchor", "--dry-run"});
  EXPECT_EQ(ended.code, 0) << ended.err;
}

TEST_F(DataSet, IsTrainedFromWeightsOfAnotherModelOnlyWithANote) {
  const std::string weights = folder / "w.pt";
  std::filesystem::copy_file(EVOLVE_SOURCE_DIR "/trainer/checkpoint/shapes_base.pt", weights);
  const std::string table =
      R"({"nc": 3, "anchors": 3, "backbone": [[-1, 1, "Conv", [8, 6, 2, 2]]], )"
      R"("head": [[[0], 1, "Detect", ["nc", "anchors"]]]})";
  write_file(folder / "table.yaml", table);
  const std::string program =
      "import zipfile; archive = zipfile.ZipFile('w.pt', 'a'); "
      "archive.writestr(archive.namelist()[0].split('/')[0] + '/evolve/about.json', "
      "'{\"yaml\": ' + open('table.yaml').read() + '}')";
  ASSERT_EQ(Process({"/usr/bin/env", "python3", "-c", program}, folder.path()).wait().code, 0);
  const auto said = [&](const std::string& cfg) {
    const auto ended = evolve(folder.path(), {"--data", "shapes/shapes.yaml", "--cfg", cfg,
                                              "--weights", "w.pt", "--dry-run"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.out;
  };
  EXPECT_THAT(said("yolov5n.yaml"),
              HasSubstr(weights + " is of another model than --cfg yolov5n.yaml: 0 of 18 layers "
                                  "are the same; the others begin anew\n"));
  EXPECT_THAT(said("yolov5p.yaml"), HasSubstr("1 of 18 layers"));
  EXPECT_THAT(said("table.yaml"), Not(HasSubstr("another model")));
}

TEST_F(DataSet, WhoseSplitsShareImagesNamesEachFaultOnce) {
  write_file(folder / "shapes/labels/val/0000.txt", "0 0.5 0.5 2 2\n");
  auto yaml = read_file(folder / "shapes/shapes.yaml");
  yaml.replace(yaml.find("images/train"), 12, "images/val");
  write_file(folder / "shapes/shapes.yaml", yaml);
  expect_refusal({"labels/val/0000.txt:1: coordinate 2 is outside 0..1"});
}

TEST_F(DataSet, OfTheUsersOwnBeginsWithWhatEvolveKnowsOfAdam) {
  const auto knows = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"--cfg", "yolov5p.yaml", "--dry-run"});
    const auto ended = evolve(folder.path(), options);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.out.find(
               "learns from 206 trainings that come with evolve, on shapes with Adam and AdamW "
               "(not with --from none)\n") != std::string::npos;
  };
  const auto with = [](const std::string& optimizer, std::vector<std::string> options) {
    options.insert(options.begin(), {"--data", "shapes/shapes.yaml", "--optimizer", optimizer});
    return options;
  };
  const std::vector<std::string> all = {"--evolve-genes", "all"};
  EXPECT_TRUE(knows(with("Adam", all)));
  EXPECT_TRUE(knows(with("AdamW", all)));
  EXPECT_FALSE(knows(with("SGD", all)));
  EXPECT_FALSE(knows(with("Adam", {})));
  EXPECT_FALSE(knows(with("Adam", {"--evolve-genes", "all", "--from", "none"})));
  EXPECT_FALSE(knows(with("Adam", {"--evolve-genes", "all", "--search", "classic"})));
  EXPECT_FALSE(knows({"--data", "shapes", "--optimizer", "Adam", "--evolve-genes", "all"}));
}

TEST_F(DataSet, ThatIsMissingIsRefused) {
  EXPECT_THAT(
      refusal_of(evolve(folder.path(), {"--data", "nowhere.yaml", "--cfg", "yolov5p.yaml"})),
      HasSubstr("nowhere.yaml"));
}

TEST_F(DataSet, WithABrokenYamlIsRefused) {
  write_file(folder / "shapes/shapes.yaml", "train: images/train\nval: [images/val\nnames: [a]\n");
  expect_refusal({"shapes.yaml:"});
}

TEST_F(DataSet, WithALabelOutOfRangeIsRefusedWithItsLine) {
  write_file(folder / "shapes/labels/train/0003.txt", "0 0.5 0.5 0.2 0.2\n1 0.5 1.5 0.1 0.1\n");
  expect_refusal({"labels/train/0003.txt:2: ", "1.5"});
}

TEST_F(DataSet, WithAClassBeyondItsNamesIsRefusedWithItsLine) {
  write_file(folder / "shapes/labels/val/0003.txt", "3 0.5 0.5 0.2 0.2\n");
  expect_refusal({"labels/val/0003.txt:1: ", "3"});
}

TEST_F(DataSet, WithATruncatedImageIsRefused) {
  const auto image = folder / "shapes/images/train/0007.png";
  const auto bytes = read_file(image);
  write_file(image, bytes.substr(0, bytes.size() / 2));
  expect_refusal({"images/train/0007.png", "truncated"});
}

TEST_F(DataSet, WithSeveralFaultsHasThemAllNamedAtOnce) {
  write_file(folder / "shapes/labels/train/0003.txt", "0 0.5 1.5 0.1 0.1\n");
  write_file(folder / "shapes/images/train/0007.png", "no image");
  write_file(folder / "shapes/labels/val/0001.txt", "9 0.5 0.5 0.1 0.1\n");
  const auto ended = look();
  EXPECT_EQ(ended.code, 2) << ended.out;
  const auto lines = lines_of(ended.err);
  ASSERT_EQ(lines.size(), 4u) << ended.err;
  EXPECT_THAT(lines[0], HasSubstr("labels/train/0003.txt:1: "));
  EXPECT_THAT(lines[1], HasSubstr("images/train/0007.png: "));
  EXPECT_THAT(lines[2], HasSubstr("labels/val/0001.txt:1: "));
  EXPECT_THAT(lines[3], HasSubstr("--skip-bad"));
}

TEST_F(DataSet, WithoutAnImageInOrderIsNotSaidToDoWithoutThem) {
  for (const auto& label : std::filesystem::directory_iterator(folder / "shapes/labels/val"))
    write_file(label.path(), "half\n");
  const auto ended = look();
  EXPECT_EQ(ended.code, 2) << ended.out;
  EXPECT_EQ(lines_of(ended.err).back(), "mend them: without them a split would have no image");
}

TEST_F(DataSet, ThatListsImagesThatAreMissingHasThemAllNamedOrIsTrainedOnWithoutThem) {
  write_file(folder / "shapes/list.txt",
             "./images/train/0000.png\n./images/train/up.png\n./images/train/away.png\n");
  auto yaml = read_file(folder / "shapes/shapes.yaml");
  const std::string train = "train: images/train";
  ASSERT_NE(yaml.find(train), std::string::npos) << yaml;
  write_file(folder / "shapes/shapes.yaml",
             yaml.replace(yaml.find(train), train.size(), "train: list.txt"));
  write_file(folder / "shapes/labels/val/0001.txt", "9 0.5 0.5 0.1 0.1\n");
  const auto lines = lines_of(look().err);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_THAT(lines[0], HasSubstr("images/train/away.png: there is no such image"));
  EXPECT_THAT(lines[1], HasSubstr("images/train/up.png: there is no such image"));
  EXPECT_THAT(lines[2], HasSubstr("labels/val/0001.txt:1: "));
  const auto without = evolve(folder.path(), {"--data", "shapes/shapes.yaml", "--cfg",
                                              "yolov5p.yaml", "--skip-bad", "--dry-run"});
  EXPECT_EQ(without.code, 0) << without.err;
  EXPECT_THAT(without.out, HasSubstr("train: 1 image,"));
}

TEST_F(DataSet, OfARunThatGoesOnElsewhereIsThatOfTheFolderWhereItBegan) {
  // Relative to the current folder, as YOLOv5 takes it.
  const auto here = folder / "here", there = folder / "there", yaml = folder / "yaml";
  for (const auto& one : {here, there, yaml}) std::filesystem::create_directory(one);
  for (const auto& one : {here, there}) ASSERT_EQ(evolve(one, {"dataset", "shapes", "d"}).code, 0);
  write_file(folder / "yaml/my.yaml",
             "path: d\ntrain: images/train\nval: images/val\nnames: [a, b, c]\n");
  const std::string run = folder / "run";
  const auto ended = evolve(
      here, {"--data", "../yaml/my.yaml", "--cfg", "yolov5p.yaml", "--fraction", ".05", "--imgsz",
             "64", "--epochs", "1", "--devices", "cpu:0", "--trials", "1", "--output", run});
  ASSERT_EQ(ended.code, 0) << ended.err;
  std::filesystem::rename(here / "d/images/train/0000.png", here / "d/0000.png");
  const auto changed = evolve(there, {"--resume", run, "--trials", "2", "--dry-run"});
  EXPECT_EQ(changed.code, 2) << changed.out;
  EXPECT_THAT(changed.err, HasSubstr("12 train images with "));
  std::filesystem::rename(here / "d/0000.png", here / "d/images/train/0000.png");
  EXPECT_EQ(evolve(there, {"--resume", run, "--trials", "2", "--dry-run"}).code, 0);
}

TEST_F(DataSet, NeedsItsTestImagesForNothingButTheirValidation) {
  std::filesystem::remove_all(folder / "shapes/images/test");
  EXPECT_EQ(look().code, 0);
  const auto on_shapes = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--data", "shapes/shapes.yaml", "--imgsz", "64"});
    return evolve(folder.path(), arguments);
  };
  const auto trained =
      on_shapes({"train", "--cfg", "yolov5p.yaml", "--epochs", "1", "--output", "run"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  const auto val = [&](const std::string& task) {
    return on_shapes(
        {"val", "--weights", "run/weights/best.pt", "--cfg", "yolov5n.yaml", "--task", task});
  };
  const auto fine = val("val");
  EXPECT_EQ(fine.code, 0) << fine.err;
  EXPECT_THAT(fine.out, HasSubstr("--cfg yolov5n.yaml is not used: run/weights/best.pt is "
                                  "evaluated with the model that it contains\n"));
  const auto refused = val("test");
  EXPECT_EQ(refused.code, 2) << refused.out;
  EXPECT_THAT(refused.err, HasSubstr("images/test' does not exist"));
}

TEST_F(DataSet, WithFaultsIsTrainedOnWithoutThemWhereThatIsAskedForAndTheyAreNamed) {
  write_file(folder / "shapes/labels/train/0003.txt", "0 0.5 1.5 0.1 0.1\n");
  write_file(folder / "shapes/images/train/0007.png", "no image");
  const auto ended = evolve(folder.path(), {"--data", "shapes/shapes.yaml", "--cfg", "yolov5p.yaml",
                                            "--imgsz", "64", "--epochs", "1", "--trials", "1",
                                            "--devices", "cpu:0", "--skip-bad", "--output", "run"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("train: 238 images"));
  EXPECT_THAT(ended.out, HasSubstr("train: left out: "));
  EXPECT_THAT(ended.out, HasSubstr("labels/train/0003.txt:1: "));
  EXPECT_THAT(ended.out, HasSubstr("images/train/0007.png: is truncated"));
  EXPECT_THAT(read_file(folder / "run/trials/000000/log"), HasSubstr("train: 238 of 238 images"));
}

TEST_F(DataSet, ThatARunBeganWithIsToBeBroughtBack) {
  const auto ended = evolve(
      folder.path(), {"--data", "shapes/shapes.yaml", "--cfg", "yolov5p.yaml", "--imgsz", "64",
                      "--epochs", "1", "--trials", "1", "--devices", "cpu:0", "--output", "run"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  write_file(folder / "shapes/images/train/0007.png", "no image");
  const auto resumed = evolve(folder.path(), {"--resume", "run", "--trials", "2"});
  EXPECT_EQ(resumed.code, 2);
  const auto lines = lines_of(resumed.err);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[1],
            "the run began with all of them: bring them back as they were, or start a new one with "
            "--skip-bad");
}

TEST_F(DataSet, OfARunIsThatOfAWorkerThatStartsLaterToo) {
  Process process(evolve_command({"--data", "shapes/shapes.yaml", "--cfg", "yolov5p.yaml",
                                  "--imgsz", "64", "--fraction", "0.1", "--epochs", "1", "--trials",
                                  "1000", "--devices", "cpu:0", "--output", "run"}),
                  folder.path());
  ASSERT_TRUE(eventually([&] { return completed(folder / "run").size() >= 2; }));
  const auto image = folder / "shapes/images/val/0003.png", elsewhere = folder / "0003.png";
  std::filesystem::rename(image, elsewhere);
  write_file(folder / "run/devices", "cpu:1\n");
  const auto ended = process.wait();
  EXPECT_EQ(ended.code, 1) << ended.out;
  EXPECT_THAT(ended.err, HasSubstr("shapes.yaml: 99 val images with "));
  EXPECT_THAT(ended.err, HasSubstr(", the run began with 100 with 433; bring them back"));
  for (const auto& one : journal(folder / "run")) {
    EXPECT_FALSE(one.value("final", false)) << one;
    if (one["event"] != "completed") continue;
    const int trial = one["trial"];
    EXPECT_THAT(read_file(folder / fmt::format("run/trials/{:06}/log", trial)),
                HasSubstr(" 100 validated in "));
  }
  std::filesystem::rename(elsewhere, image);
  const auto before = completed(folder / "run").size();
  Process resumed(evolve_command({"--resume", "run"}), folder.path());
  EXPECT_TRUE(eventually([&] { return completed(folder / "run").size() > before; }));
  resumed.signal(SIGINT);
  EXPECT_EQ(resumed.wait().code, 128 + SIGINT);
}

TEST_F(DataSet, IsTrainedOnInPartWhereAFractionIsAskedFor) {
  const auto ended = evolve(folder.path(), {"--data", "shapes/shapes.yaml", "--cfg", "yolov5p.yaml",
                                            "--fraction", "0.25", "--dry-run"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("train: 60 images"));
  EXPECT_THAT(ended.out, HasSubstr("val: 100 images"));
}

TEST_F(DataSet, OfWhichTheFractionHasNoLabelNamesTheFraction) {
  for (int i = 0; i < 3; ++i)
    std::filesystem::remove(folder / fmt::format("shapes/labels/train/{:04}.txt", i));
  const auto ended = evolve(folder.path(), {"--data", "shapes/shapes.yaml", "--cfg", "yolov5p.yaml",
                                            "--fraction", "0.0125", "--dry-run"});
  EXPECT_EQ(ended.code, 2) << ended.out;
  EXPECT_EQ(
      ended.err,
      "evolve: --fraction 0.0125: none of the first 3 train images has a label; take a larger "
      "share, or leave it out\n");
}

TEST_F(DataSet, WithImagesWithoutLabelsIsFineAndSaysSo) {
  std::filesystem::remove(folder / "shapes/labels/train/0000.txt");
  write_file(folder / "shapes/labels/train/0001.txt", "");
  const auto ended = look();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("without labels"));
}

TEST_F(DataSet, WithAnEmptyClassIsFineAndSaysSo) {
  auto yaml = read_file(folder / "shapes/shapes.yaml");
  const auto last = yaml.find("triangle");
  ASSERT_NE(last, std::string::npos);
  yaml.insert(last + 8, "\n  3: ghost");
  write_file(folder / "shapes/shapes.yaml", yaml);
  const auto ended = look();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("ghost"));
}

TEST_F(DataSet, WithAnImageThatIsDamagedInItsMiddleBurnsNoTrial) {
  auto bytes = read_file(folder / "shapes/images/train/0003.png");
  for (std::size_t i = 0; i < 4; ++i) bytes[bytes.size() / 2 + i] = '\0';
  write_file(folder / "shapes/images/train/0003.png", bytes);
  const std::vector<std::string> run = {
      "--data", "shapes/shapes.yaml", "--cfg", "yolov5p.yaml", "--imgsz", "64", "--epochs",
      "1",      "--devices",          "cpu:0", "--trials",     "1"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), run.begin(), run.end());
    return evolve(folder.path(), more);
  };
  const auto refused = with({"--output", "refused"});
  EXPECT_EQ(refused.code, 1) << refused.out;
  EXPECT_THAT(refused.err, HasSubstr("0003.png: cannot be decoded"));
  for (const auto& failure : journal(folder / "refused"))
    EXPECT_FALSE(failure.value("final", false));
  const auto without = with({"--skip-bad", "--output", "without"});
  EXPECT_EQ(without.code, 0) << without.err;
  EXPECT_THAT(without.out, HasSubstr("train: 239 images"));
  const auto told = evolve(folder.path(), {"--resume", "refused", "--skip-bad"});
  EXPECT_EQ(told.code, 0) << told.err;
  EXPECT_THAT(told.out, HasSubstr("0003.png"));
  EXPECT_THAT(told.out, HasSubstr("train: 239 images"));
  const auto from_then_on = evolve(folder.path(), {"--resume", "refused", "--trials", "2"});
  EXPECT_EQ(from_then_on.code, 0) << from_then_on.err;

  const auto training =
      evolve(folder.path(), {"train", "--data", "shapes/shapes.yaml", "--cfg", "yolov5p.yaml",
                             "--imgsz", "64", "--output", "training"});
  EXPECT_EQ(training.code, 2);
  EXPECT_THAT(training.err, HasSubstr("0003.png: cannot be decoded"));
  EXPECT_THAT(training.out, Not(HasSubstr("0003.png"))) << "it is said once";
  EXPECT_THAT(read_file(folder / "training/log"), HasSubstr("\nfailed (data): "));
}

}  // namespace
}  // namespace evolve::test

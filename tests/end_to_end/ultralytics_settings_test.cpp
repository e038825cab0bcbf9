// What a trial of --trainer ultralytics is given, by default and by the options, and what evolve
// says of that; with a stand-in for Ultralytics' package.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "python_trainer.hpp"

namespace evolve::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

Ended run(const Folder& folder, const std::vector<std::string>& arguments) {
  return run_with("ultralytics", folder, arguments);
}

TEST(Ultralytics, GetsItsOwnNamesForTheOptions) {
  Folder folder;
  const auto ended =
      run(folder, trials("yolo11n.yaml", 2,
                         {"--weights", "yolo11n.pt", "--batch-size", "-1", "--freeze", "10",
                          "--rect", "--workers", "2", "--imgsz", "64", "--cache", "none"}));
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto settings = settings_of(folder, 0);
  EXPECT_EQ(settings["model"], "yolo11n.yaml");
  EXPECT_EQ(settings["pretrained"], "yolo11n.pt");
  EXPECT_EQ(settings["data"], (folder / "my.yaml").string());
  EXPECT_EQ(settings["epochs"], 2);
  EXPECT_EQ(settings["batch"], -1);
  EXPECT_EQ(settings["imgsz"], 64);
  EXPECT_EQ(settings["optimizer"], "AdamW");
  EXPECT_EQ(settings["freeze"], 10);
  EXPECT_EQ(settings["rect"], true);
  EXPECT_EQ(settings["workers"], 2);
  EXPECT_EQ(settings["device"], "cpu");
  EXPECT_EQ(settings["project"], (folder / "run/trials").string());
  EXPECT_EQ(settings["name"], "000000");
  EXPECT_FALSE(settings.contains("cache"));  // its default: "none" means nothing to it
  EXPECT_EQ(settings["patience"], 0);        // evolve alone ends a trial early
  EXPECT_EQ(settings["save"], json(false));
  EXPECT_EQ(settings["plots"], json(false));
  EXPECT_EQ(settings["val"], json(true));
  EXPECT_EQ(settings["exist_ok"], json(true));
  // Those of trials 0 and 1 where --seed is 0 (tests/ga/random/rng_test.cpp).
  EXPECT_EQ(settings["seed"], 266925343);
  EXPECT_EQ(settings_of(folder, 1)["seed"], 1679338179);
}

TEST(Ultralytics, StartsAtItsOwnDefaultsAndSearchesItsTunersSpace) {
  Folder folder;
  ASSERT_EQ(run(folder, trials("yolo11n.pt")).code, 0);
  const auto settings = settings_of(folder, 0);
  EXPECT_EQ(settings["model"], "yolo11n.pt");
  EXPECT_EQ(settings["lr0"], 0.001);
  EXPECT_EQ(settings["box"], 7.5);
  EXPECT_EQ(settings["copy_paste"], 0);
  EXPECT_EQ(settings["close_mosaic"], 10);
  EXPECT_EQ(settings["warmup_bias_lr"], 0);
  const auto space = event(folder, "run")["space"];
  EXPECT_EQ(space.size(), 27u);
  const auto evolves = [](const json& gene) { return gene.value("evolve", true); };
  EXPECT_EQ(std::ranges::count_if(space, evolves), 26);
}

TEST(Ultralytics, SearchesWhatAClassifierIsTrainedWith) {
  Folder folder;
  ASSERT_EQ(run(folder, trials("yolo11n-cls.pt", 8)).code, 0);
  const auto settings = settings_of(folder, 0);
  EXPECT_EQ(settings["lr0"], 0.001);
  EXPECT_EQ(settings["erasing"], 0.4);
  EXPECT_EQ(settings["auto_augment"], "randaugment");
  EXPECT_FALSE(settings.contains("mosaic"));
  EXPECT_EQ(event(folder, "run")["space"].size(), 16u);
  std::set<json> policies;
  for (int trial = 0; trial < 8; ++trial)
    policies.insert(settings_of(folder, trial)["auto_augment"]);
  EXPECT_TRUE(policies.contains(nullptr));  // "none" in the space
  EXPECT_FALSE(policies.contains("none"));
}

TEST(Ultralytics, TrainsAClassifierOnImagesOfItsOwnSizeUnlessOneIsGiven) {
  Folder folder;
  const auto ended = run(folder, trials("yolo11n-cls.yaml"));
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(settings_of(folder, 0)["imgsz"], 224);
  EXPECT_THAT(lines_of(ended.out).back(), HasSubstr(" imgsz=224 "));
  Folder another;
  ASSERT_EQ(run(another, trials("yolo11n-cls.yaml", 1, {"--imgsz", "64"})).code, 0);
  EXPECT_EQ(settings_of(another, 0)["imgsz"], 64);
}

TEST(Ultralytics, StartsInsideTheBoundsOfAnotherSpace) {
  Folder folder;
  write_file(folder / "space.yaml", "lr0: [0.01, 0.1]\nmosaic: [0.0, 1.0]\n");
  write_file(folder / "hyp.yaml", "box: 6.0\n");
  const auto ended = run(folder, trials("yolo11n.yaml", 1,
                                        {"--space", "space.yaml", "--hyp", "hyp.yaml",
                                         "--optimizer", "MuSGD", "--imgsz", "100"}));
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto settings = settings_of(folder, 0);
  EXPECT_EQ(settings["lr0"], 0.01);  // YOLOv5's: Ultralytics' is outside
  EXPECT_EQ(settings["mosaic"], 1);
  EXPECT_EQ(settings["box"], 6);
  EXPECT_EQ(settings["hsv_s"], 0.7);
  EXPECT_EQ(settings["optimizer"], "MuSGD");
  EXPECT_EQ(settings["imgsz"], 100);
}

TEST(Ultralytics, StartsWhereItsOwnDefaultsAreWhatNothingElseNames) {
  Folder folder;
  write_file(folder / "space.yaml",
             "nbs: {low: 4, high: 128, type: int}\ndropout: [0.1, 0.3]\nerasing: [0.0, 0.9]\n"
             "rect: {choices: [True, False]}\nmixup: [0.0, 1.0]\n");
  write_file(folder / "hyp.yaml", "mixup: 0.25\n");
  const auto ended =
      run(folder, trials("yolo11n.yaml", 1, {"--space", "space.yaml", "--hyp", "hyp.yaml"}));
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto settings = settings_of(folder, 0);
  EXPECT_EQ(settings["nbs"], 64);
  EXPECT_EQ(settings["erasing"], 0.4);
  EXPECT_EQ(settings["rect"], json(false));
  EXPECT_EQ(settings["mixup"], 0.25);
  EXPECT_EQ(settings["dropout"], 0.2);  // its own is outside the bounds
  EXPECT_THAT(ended.out,
              HasSubstr("dropout starts in the middle of its range; --hyp says where else\n"));
}

TEST(Ultralytics, IsGivenYesAndNoWhereTheSpaceLetsThemBeChosen) {
  Folder folder;
  write_file(folder / "space.yaml", "cos_lr: {choices: [True, false]}\nbox: [4.0, 8.0]\n");
  write_file(folder / "hyp.yaml", "box: 6.0\n");
  const auto ended =
      run(folder, trials("yolo11n.yaml", 1, {"--space", "space.yaml", "--hyp", "hyp.yaml"}));
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(settings_of(folder, 0)["cos_lr"], json(false));
}

/// The last line of evolve, from `model=` on, with these files.
std::string usage(const std::string& space, const std::string& hyp) {
  Folder folder;
  write_file(folder / "space.yaml", space);
  write_file(folder / "hyp.yaml", hyp);
  const auto ended =
      run(folder, trials("yolo11n.yaml", 1, {"--space", "space.yaml", "--hyp", "hyp.yaml"}));
  EXPECT_EQ(ended.code, 0) << ended.err;
  const auto line = lines_of(ended.out).back();
  EXPECT_THAT(line, testing::StartsWith("Use it in Ultralytics: yolo cfg=run/hyp_evolved.yaml "
                                        "mode=train model=yolo11n.yaml data="));
  return line.substr(line.find("my.yaml") + 7);
}

TEST(Ultralytics, SaysWithWhichCommandTheResultIsUsed) {
  EXPECT_EQ(usage("box: [4.0, 8.0]\nclose_mosaic: {low: 0, high: 10, type: int}\n", "box: 6.0\n"),
            " optimizer=AdamW imgsz=640 close_mosaic=10");
  EXPECT_EQ(usage("optimizer: {choices: [SGD, MuSGD]}\nbox: [4.0, 8.0]\n", "box: 6.0\n"),
            " imgsz=640 close_mosaic=10 optimizer=SGD");
  EXPECT_EQ(usage("cos_lr: {choices: [True, False]}\nbox: [4.0, 8.0]\n",
                  "box: 6.0\noptimizer: SGD\nnbs: 32\n"),
            " imgsz=640 optimizer=SGD nbs=32 close_mosaic=10 cos_lr=false");
}

TEST(Ultralytics, SaysWithWhichOptimizerItTrains) {
  Folder folder;
  write_file(folder / "hyp.yaml", "optimizer: SGD\nimgsz: 320\n");
  EXPECT_THAT(
      run(folder, trials("yolo11n.yaml", 1, {"--hyp", "hyp.yaml", "--imgsz", "96"})).out,
      AllOf(HasSubstr("for 2 epochs at 320 px with SGD, by ultralytics"),
            HasSubstr("--imgsz does not count: the hyperparameters have one of their own")));
  Folder another;
  write_file(another / "space.yaml", "optimizer: {choices: [SGD, MuSGD]}\nbox: [4.0, 8.0]\n");
  write_file(another / "hyp.yaml", "box: 6.0\n");
  EXPECT_THAT(
      run(another, trials("yolo11n.yaml", 1, {"--space", "space.yaml", "--hyp", "hyp.yaml"})).out,
      HasSubstr("at 640 px with SGD or MuSGD, by ultralytics"));
}

TEST(UltralyticsSettings, ThatAnOlderVersionHasNotAreLeftOutOfWhatEvolves) {
  Folder folder;
  write_data(folder);
  std::filesystem::create_directories(folder / "older/ultralytics/cfg");
  write_file(folder / "older/ultralytics/__init__.py", "");
  write_file(folder / "older/ultralytics/cfg/default.yaml",
             "task: detect # one of\nlr0: 0.01\nbox: 7.5\nfreeze:\n");
  const auto path = "PYTHONPATH=" + (folder / "older").string();
  const auto ended =
      Process(command_of("ultralytics", trials("yolo11n.yaml", 1, {"--dry-run"}), {path}),
              folder.path())
          .wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("2 of 2 hyperparameters evolve: lr0 box\n"));
}

}  // namespace
}  // namespace evolve::test

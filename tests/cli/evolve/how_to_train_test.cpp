#include "cli/evolve/how_to_train.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/files.hpp"
#include "tests/temporary_folder.hpp"

namespace evolve::cli {
namespace {

/// What follows the data of the command that uses this set in Ultralytics: a space of fixed genes,
/// and the options of its trainings.
std::string command(const hyp::Hyperparameters& hyp, trainer::TrainOptions options = {}) {
  options.data = "my.yaml";
  if (options.cfg.empty()) options.weights = "yolo11n.pt";
  options.optimizer = "AdamW";
  hyp::Space space;
  for (const auto& [name, value] : hyp) space.genes.push_back({.name = name, .evolve = false});
  const auto line = ultralytics_command(options, space, hyp, "hyp.yaml");
  const std::string begin = "Use it in Ultralytics: yolo cfg=hyp.yaml mode=train model=";
  EXPECT_EQ(line.substr(0, begin.size()), begin);
  return line.substr(begin.size());
}

TEST(HowToTrain, SaysWithWhichOptionsUltralyticsTrainsAsTheTrialsDid) {
  EXPECT_EQ(command({{"box", 6.0}}),
            "yolo11n.pt data=my.yaml optimizer=AdamW imgsz=640 single_cls=False");
  EXPECT_EQ(command({{"box", 6.0}}, {.cfg = "yolo11n.yaml"}),
            "yolo11n.yaml data=my.yaml optimizer=AdamW imgsz=640");
  EXPECT_EQ(command({{"box", 6.0}}, {.cfg = "yolo11n.yaml", .weights = "my weights.pt"}),
            "yolo11n.yaml data=my.yaml pretrained='my weights.pt' optimizer=AdamW imgsz=640");
  EXPECT_EQ(command({{"box", 6.0}}, {.batch_size = 8,
                                     .imgsz = 64,
                                     .cos_lr = true,
                                     .single_cls = true,
                                     .rect = true,
                                     .freeze = {10},
                                     .fraction = 0.25,
                                     .amp = false}),
            "yolo11n.pt data=my.yaml optimizer=AdamW imgsz=64 batch=8 single_cls=True cos_lr=True "
            "rect=True amp=False freeze=10");
  EXPECT_EQ(command({}, {.freeze = {0, 1, 2}}),
            "yolo11n.pt data=my.yaml optimizer=AdamW imgsz=640 single_cls=False freeze='[0,1,2]'");
}

TEST(HowToTrain, SaysWhatTheSetHasItselfInsteadOfTheOption) {
  EXPECT_EQ(command({{"optimizer", "SGD"}, {"cos_lr", 0.0}, {"fraction", 0.5}, {"imgsz", 320.0}},
                    {.cos_lr = true, .fraction = 0.25}),
            "yolo11n.pt data=my.yaml single_cls=False optimizer=SGD cos_lr=False imgsz=320");
}

TEST(HowToTrain, SaysAgainWhatUltralyticsDoesNotTakeAsAFloat) {
  EXPECT_EQ(
      command({{"cos_lr", 1.0}, {"freeze", 3.0}, {"nbs", 32.0}, {"rect", "true"}, {"box", 6.0}}),
      "yolo11n.pt data=my.yaml optimizer=AdamW imgsz=640 single_cls=False cos_lr=True freeze=3 "
      "nbs=32 "
      "rect=true");
}

// Of somebody else's trainer: any name and any number may be one there.
TEST(HowToTrain, TellsYolov5OfNoOptimizerThatItDoesNotHave) {
  for (const hyp::Value& optimizer : {hyp::Value(1.0), hyp::Value("Lion")})
    EXPECT_EQ(yolov5_command({}, {{"optimizer", optimizer}}, "hyp.yaml"),
              "Use it in YOLOv5: python train.py --hyp hyp.yaml");
}

TEST(HowToTrain, SaysWithWhichOptionsYolov5TrainsAsTheTrialsDid) {
  const trainer::TrainOptions options{.data = "my.yaml",
                                      .weights = "my weights.pt",
                                      .batch_size = 8,
                                      .imgsz = 64,
                                      .optimizer = "AdamW",
                                      .cos_lr = true,
                                      .label_smoothing = 0.1,
                                      .single_cls = true,
                                      .rect = true,
                                      .noautoanchor = true,
                                      .freeze = {0, 1},
                                      .image_weights = true,
                                      .multi_scale = true,
                                      .fraction = 0.25,
                                      .skip_bad = true,
                                      .amp = false};
  const std::string on =
      "--data my.yaml --weights 'my weights.pt' --imgsz 64 --batch-size 8 --hyp "
      "hyp.yaml --optimizer AdamW --cos-lr --label-smoothing 0.1 --single-cls "
      "--rect --image-weights --multi-scale --noautoanchor --freeze 0 1";
  EXPECT_EQ(yolov5_command(options, {}, "hyp.yaml"), "Use it in YOLOv5: python train.py " + on);
  EXPECT_EQ(evolve_train_command(options, {}, "hyp.yaml"),
            "Or here: evolve train " + on + " --no-amp --skip-bad --epochs 100");
}

TEST(HowToTrain, NamesNothingInYolov5ThatOnlyEvolveHas) {
  const trainer::TrainOptions shapes{
      .cfg = "yolov5p.yaml", .weights = "shapes-base", .imgsz = 96, .optimizer = "Adam"};
  EXPECT_EQ(yolov5_command(shapes, {}, "hyp.yaml"),
            "Use it in YOLOv5: python train.py --hyp hyp.yaml --optimizer Adam");
  EXPECT_EQ(evolve_train_command(shapes, {}, "hyp.yaml"),
            "Or here: evolve train --cfg yolov5p.yaml --weights shapes-base --imgsz 96 --hyp "
            "hyp.yaml --optimizer Adam --epochs 100");
  // There `evolve train` has a size and an optimizer of its own.
  EXPECT_EQ(evolve_train_command({}, {}, "hyp.yaml"),
            "Or here: evolve train --imgsz 640 --hyp hyp.yaml --optimizer SGD --epochs 100");
  EXPECT_EQ(yolov5_command({}, {}, "hyp.yaml"), "Use it in YOLOv5: python train.py --hyp hyp.yaml");
  const trainer::TrainOptions on_ones_own{
      .data = "my.yaml", .cfg = "yolov5p.yaml", .weights = "shapes-base"};
  EXPECT_EQ(yolov5_command(on_ones_own, {}, "hyp.yaml"),
            "Use it in YOLOv5: python train.py --data my.yaml --hyp hyp.yaml");
  EXPECT_EQ(yolov5_command({.data = "my.yaml", .cfg = "yolov5p"}, {}, "hyp.yaml"),
            "Use it in YOLOv5: python train.py --data my.yaml --hyp hyp.yaml");
}

TEST(HowToTrain, NamesATableOfYolov5sByItsFileThere) {
  EXPECT_EQ(
      yolov5_command({.data = "my.yaml", .cfg = "yolov5n", .weights = "a.pt"}, {}, "hyp.yaml"),
      "Use it in YOLOv5: python train.py --data my.yaml --cfg yolov5n.yaml --weights a.pt "
      "--hyp hyp.yaml");
}

TEST(HowToTrain, NamesWeightsToYolov5sPackageAsNoServerCallsItsOwn) {
  const test::TemporaryFolder folder;
  const auto weights = (folder / "best.pt").string();
  test::write_file(weights, "");
  const auto on = [](const std::string& from) {
    return yolov5_command({.data = "my.yaml", .weights = from}, {}, "hyp.yaml", yolov5_package);
  };
  const std::string begin = "Use it in YOLOv5: python -m yolov5.train --data my.yaml --weights ";
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  EXPECT_EQ(on(weights), begin + "./best.pt --hyp hyp.yaml");
  EXPECT_EQ(on("yolov5n.pt"), begin + "yolov5n.pt --hyp hyp.yaml") << "it is to be fetched";
  std::filesystem::current_path("/usr/bin");
  EXPECT_EQ(on(weights), begin + weights + " --hyp hyp.yaml");
  std::filesystem::current_path(before);
}

TEST(HowToTrain, SaysThatYolov5BeginsWithRandomWeights) {
  EXPECT_EQ(
      yolov5_command({.data = "my.yaml", .cfg = "yolov5n.yaml"}, {}, "hyp.yaml"),
      "Use it in YOLOv5: python train.py --data my.yaml --cfg yolov5n.yaml --weights '' --hyp "
      "hyp.yaml");
}

}  // namespace
}  // namespace evolve::cli

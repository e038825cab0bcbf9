#include "cli/train/train_options.hpp"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "tests/refusal.hpp"

namespace evolve::cli {
namespace {

TrainCommandOptions train(const std::string& text) {
  CLI::App app;
  TrainCommandOptions options;
  declare(app, options);
  app.parse(text);
  complete(app, options);
  return options;
}

std::string refused(const std::string& text) {
  return test::refusal([&] { train(text); });
}

TEST(TrainOptions, WithoutADataSetTrainASmallModelOnShapes) {
  const auto options = train("");
  EXPECT_EQ(options.train.data, "shapes");
  EXPECT_EQ(options.train.cfg, "yolov5p.yaml");
  EXPECT_EQ(options.train.weights, "shapes-base");
  EXPECT_EQ(options.train.imgsz, 96);
  EXPECT_EQ(options.train.optimizer, "Adam");
}

TEST(TrainOptions, OnShapesHaveTheModelOfTheWeightsThatAreGiven) {
  EXPECT_EQ(train("--weights a.pt").train.cfg, "");
  EXPECT_EQ(train("--weights a.pt --cfg yolov5n.yaml").train.cfg, "yolov5n.yaml");
  EXPECT_EQ(train("--weights shapes-base").train.cfg, "yolov5p.yaml");
  EXPECT_EQ(train("--cfg yolov5n.yaml").train.weights, "");
}

TEST(TrainOptions, WithADataSetHaveYolov5sDefaults) {
  const auto options = train("--data my.yaml");
  EXPECT_EQ(options.train.cfg, "yolov5s.yaml");
  EXPECT_EQ(options.train.weights, "");
  EXPECT_EQ(options.train.epochs, 100);
  EXPECT_EQ(options.train.batch_size, 16);
  EXPECT_EQ(options.train.imgsz, 640);
  EXPECT_EQ(options.train.patience, 100);
  EXPECT_EQ(options.devices, "auto");
  EXPECT_EQ(options.destination.project, "runs/train");
  EXPECT_EQ(options.destination.name, "exp");
}

TEST(TrainOptions, KnowTheModelOfTheEmbeddedWeightsOnAnyDataSet) {
  EXPECT_EQ(train("--data my.yaml --weights shapes-base").train.cfg, "yolov5p.yaml");
  EXPECT_EQ(train("--data my.yaml --weights shapes-base --cfg yolov5n.yaml").train.cfg,
            "yolov5n.yaml");
}

TEST(TrainOptions, TakeYolov5sOptions) {
  const auto options = train(
      "--patience 3 --freeze 10 --image-weights --multi-scale --cos-lr --cos-restarts 8,2 "
      "--device cpu --cache ram --img 64 --no-amp --seed 7 --label-smoothing 0.1 --single-cls "
      "--rect --noautoanchor --workers 2 --exist-ok");
  EXPECT_EQ(options.train.patience, 3);
  EXPECT_EQ(options.train.freeze, std::vector<int>{10});
  EXPECT_TRUE(options.train.image_weights);
  EXPECT_TRUE(options.train.multi_scale);
  EXPECT_TRUE(options.train.cos_lr);
  EXPECT_EQ(options.train.restart_epochs, 8);
  EXPECT_EQ(options.train.restart_factor, 2);
  EXPECT_EQ(options.devices, "cpu");
  EXPECT_EQ(options.train.imgsz, 64);
  EXPECT_FALSE(options.train.amp);
  EXPECT_EQ(options.seed, 7u);
  EXPECT_TRUE(options.destination.exist_ok);
}

TEST(TrainOptions, TakeALayerOrSeveralToFreeze) {
  EXPECT_EQ(train("").train.freeze, std::vector<int>{0});
  EXPECT_EQ(train("--freeze 0 1 2 --epochs 3").train.freeze, (std::vector<int>{0, 1, 2}));
}

TEST(TrainOptions, RefuseValuesThatMakeNoSense) {
  EXPECT_EQ(refused("--epochs 0"), "--epochs 0; train for at least 1 epoch");
  EXPECT_EQ(refused("--patience -1"), "--patience -1: too few; write 0 or more");
  EXPECT_EQ(refused("--imgsz 0"),
            "--imgsz 0: image sizes are multiples of 32 pixels, 64 at least; write 64");
  EXPECT_EQ(refused("--imgsz 97"),
            "--imgsz 97: image sizes are multiples of 32 pixels, 64 at least; write 128");
}

TEST(TrainOptions, PointFromEvolveToPlainEvolve) {
  for (const std::string text : {"--evolve", "--evolve 300"}) {
    EXPECT_EQ(refused(text),
              "evolve train --evolve; plain evolve evolves: leave out train --evolve");
  }
}

TEST(TrainOptions, GoOnAsTheRunWasOnOtherDevices) {
  const auto run = to_json(train("--epochs 5 --seed 3 --devices cpu:0 --patience 4"));
  const auto options = resumed(train("--resume x --devices cpu --workers 1 --epochs 5"), run);
  EXPECT_EQ(options.train.epochs, 5);
  EXPECT_EQ(options.train.patience, 4);
  EXPECT_EQ(resumed(train("--resume x --patience 0"), run).train.patience, 0);
  EXPECT_EQ(options.seed, 3u);
  EXPECT_EQ(options.devices, "cpu");
  EXPECT_EQ(options.train.workers, 1);
}

TEST(TrainOptions, OfATrainingThatGoesOnDoNotMoveIt) {
  const std::string reason =
      ": a run that goes on stays where it is; leave it out: --resume DIR names the run";
  EXPECT_EQ(refused("--resume --output y"), "--output" + reason);
  EXPECT_EQ(refused("--resume x --name y"), "--name" + reason);
}

TEST(TrainOptions, RefuseAnotherValueOnResume) {
  const auto run = to_json(train("--epochs 5"));
  EXPECT_THROW(resumed(train("--resume x --epochs 6"), run), Error);
  EXPECT_THROW(resumed(train("--resume x --no-amp"), run), Error);
  EXPECT_THROW(resumed(train("--resume x --hyp other.yaml"), run), Error);
}

}  // namespace
}  // namespace evolve::cli

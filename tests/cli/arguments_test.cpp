#include "cli/arguments.hpp"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "core/error.hpp"

namespace evolve::cli {
namespace {

template <class Arguments>
Arguments parse(const std::string& text) {
  CLI::App app;
  Arguments arguments;
  declare(app, arguments);
  app.parse(text);
  complete(app, arguments);
  return arguments;
}

template <class Arguments>
std::string refusal(const std::string& text) {
  try {
    parse<Arguments>(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 2);
    return error.what();
  }
  return "";
}

const auto train = parse<TrainArguments>;
const auto val = parse<ValArguments>;

TEST(TrainArguments, WithoutADataSetTrainASmallModelOnShapes) {
  const auto arguments = train("");
  EXPECT_EQ(arguments.train.data, "shapes");
  EXPECT_EQ(arguments.train.cfg, "yolov5p.yaml");
  EXPECT_EQ(arguments.train.weights, "shapes-base");
  EXPECT_EQ(arguments.train.imgsz, 96);
  EXPECT_EQ(arguments.train.optimizer, "Adam");
}

TEST(TrainArguments, WithADataSetHaveYolov5sDefaults) {
  const auto arguments = train("--data my.yaml");
  EXPECT_EQ(arguments.train.cfg, "yolov5s.yaml");
  EXPECT_EQ(arguments.train.weights, "");
  EXPECT_EQ(arguments.train.epochs, 100);
  EXPECT_EQ(arguments.train.batch_size, 16);
  EXPECT_EQ(arguments.train.imgsz, 640);
  EXPECT_EQ(arguments.train.patience, 100);
  EXPECT_EQ(arguments.devices, "auto");
  EXPECT_EQ(arguments.destination.project, "runs/train");
  EXPECT_EQ(arguments.destination.name, "exp");
}

TEST(TrainArguments, TakeYolov5sOptions) {
  const auto arguments = train(
      "--patience 3 --freeze 10 --image-weights --multi-scale --cos-lr --cos-restarts 8,2 "
      "--device cpu --cache ram --img 64 --no-amp --seed 7 --label-smoothing 0.1 --single-cls "
      "--rect --noautoanchor --workers 2 --exist-ok");
  EXPECT_EQ(arguments.train.patience, 3);
  EXPECT_EQ(arguments.train.freeze, std::vector<int>{10});
  EXPECT_TRUE(arguments.train.image_weights);
  EXPECT_TRUE(arguments.train.multi_scale);
  EXPECT_TRUE(arguments.train.cos_lr);
  EXPECT_EQ(arguments.train.restart_epochs, 8);
  EXPECT_EQ(arguments.train.restart_factor, 2);
  EXPECT_EQ(arguments.devices, "cpu");
  EXPECT_EQ(arguments.train.imgsz, 64);
  EXPECT_FALSE(arguments.train.amp);
  EXPECT_EQ(arguments.seed, 7u);
  EXPECT_TRUE(arguments.destination.exist_ok);
}

TEST(TrainArguments, TakeALayerOrSeveralToFreeze) {
  EXPECT_EQ(train("").train.freeze, std::vector<int>{0});
  EXPECT_EQ(train("--freeze 0 1 2 --epochs 3").train.freeze, (std::vector<int>{0, 1, 2}));
}

TEST(TrainArguments, RefuseValuesThatMakeNoSense) {
  EXPECT_EQ(refusal<TrainArguments>("--epochs 0"), "--epochs 0; train for at least 1 epoch");
  EXPECT_EQ(refusal<TrainArguments>("--patience -1"), "--patience -1; 0 or more");
  EXPECT_EQ(refusal<TrainArguments>("--imgsz 0"),
            "--imgsz 0: images have a multiple of 32 pixels, 64 at least; write 64");
  EXPECT_EQ(refusal<TrainArguments>("--imgsz 97"),
            "--imgsz 97: images have a multiple of 32 pixels, 64 at least; write 128");
}

TEST(TrainArguments, PointFromEvolveToPlainEvolve) {
  for (const std::string text : {"--evolve", "--evolve 300"}) {
    EXPECT_EQ(refusal<TrainArguments>(text),
              "evolve train --evolve; plain evolve evolves: leave out train --evolve");
  }
}

TEST(TrainArguments, GoOnAsTheRunWasOnOtherDevices) {
  const auto run = to_json(train("--epochs 5 --seed 3 --devices cpu:0 --patience 4"));
  const auto arguments = resumed(train("--resume x --devices cpu --workers 1 --epochs 5"), run);
  EXPECT_EQ(arguments.train.epochs, 5);
  EXPECT_EQ(arguments.train.patience, 4);
  EXPECT_EQ(resumed(train("--resume x --patience 0"), run).train.patience, 0);
  EXPECT_EQ(arguments.seed, 3u);
  EXPECT_EQ(arguments.devices, "cpu");
  EXPECT_EQ(arguments.train.workers, 1);
}

TEST(TrainArguments, RefuseAnotherValueOnResume) {
  const auto run = to_json(train("--epochs 5"));
  EXPECT_THROW(resumed(train("--resume x --epochs 6"), run), Error);
  EXPECT_THROW(resumed(train("--resume x --no-amp"), run), Error);
  EXPECT_THROW(resumed(train("--resume x --hyp other.yaml"), run), Error);
}

TEST(ValArguments, AreYolov5sByDefault) {
  const auto arguments = val("--data my.yaml --weights best.pt");
  EXPECT_EQ(arguments.task, "val");
  EXPECT_TRUE(arguments.rect);
  EXPECT_EQ(arguments.options.conf, 0.001);
  EXPECT_EQ(arguments.options.iou, 0.6);
  EXPECT_EQ(arguments.options.batch_size, 32);
  EXPECT_EQ(arguments.options.imgsz, 640);
  EXPECT_EQ(arguments.options.cfg, "") << "the weights know their model";
  EXPECT_EQ(arguments.destination.project, "runs/val");
}

TEST(ValArguments, WithoutADataSetAreThoseOfShapes) {
  const auto mine = val("--weights best.pt");
  EXPECT_EQ(mine.options.data, "shapes");
  EXPECT_EQ(mine.options.weights, "best.pt");
  EXPECT_EQ(mine.options.cfg, "");
  EXPECT_EQ(mine.options.imgsz, 96);
}

TEST(ValArguments, TakeYolov5sOptions) {
  const auto arguments =
      val("--weights a.pt --task test --no-rect --conf-thres 0.25 --iou-thres 0.45 --single-cls "
          "--json out.json");
  EXPECT_EQ(arguments.task, "test");
  EXPECT_FALSE(arguments.rect);
  EXPECT_EQ(arguments.options.conf, 0.25);
  EXPECT_EQ(arguments.options.iou, 0.45);
  EXPECT_TRUE(arguments.options.single_cls);
  EXPECT_EQ(arguments.json, "out.json");
  EXPECT_EQ(val("--weights a.pt --conf 0.5").options.conf, 0.5);
}

TEST(ValArguments, NeedWeights) {
  for (const auto* arguments : {"--data my.yaml", ""})
    EXPECT_EQ(refusal<ValArguments>(arguments),
              "evolve val: there are no --weights; name a .pt file with --weights");
  EXPECT_THROW(val("--task speed"), CLI::ParseError);
  EXPECT_THROW(val("--conf 1.5"), CLI::ParseError);
}

}  // namespace
}  // namespace evolve::cli

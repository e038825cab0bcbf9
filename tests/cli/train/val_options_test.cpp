#include "cli/train/val_options.hpp"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "tests/refusal.hpp"

namespace evolve::cli {
namespace {

ValCommandOptions val(const std::string& text) {
  CLI::App app;
  ValCommandOptions options;
  declare(app, options);
  app.parse(text);
  complete(app, options);
  return options;
}

std::string refused(const std::string& text) {
  return test::refusal([&] { val(text); });
}

TEST(ValOptions, AreYolov5sByDefault) {
  const auto options = val("--data my.yaml --weights best.pt");
  EXPECT_EQ(options.task, "val");
  EXPECT_TRUE(options.rect);
  EXPECT_EQ(options.train.conf, 0.001);
  EXPECT_EQ(options.train.iou, 0.6);
  EXPECT_EQ(options.train.batch_size, 32);
  EXPECT_EQ(options.train.imgsz, 640);
  EXPECT_EQ(options.train.cfg, "") << "the weights know their model";
  EXPECT_EQ(options.destination.project, "runs/val");
}

TEST(ValOptions, WithoutADataSetAreThoseOfShapes) {
  const auto mine = val("--weights best.pt");
  EXPECT_EQ(mine.train.data, "shapes");
  EXPECT_EQ(mine.train.weights, "best.pt");
  EXPECT_EQ(mine.train.cfg, "");
  EXPECT_EQ(mine.train.imgsz, 96);
}

TEST(ValOptions, TakeYolov5sOptions) {
  const auto options =
      val("--weights a.pt --task test --no-rect --conf-thres 0.25 --iou-thres 0.45 --single-cls "
          "--json out.json");
  EXPECT_EQ(options.task, "test");
  EXPECT_FALSE(options.rect);
  EXPECT_EQ(options.train.conf, 0.25);
  EXPECT_EQ(options.train.iou, 0.45);
  EXPECT_TRUE(options.train.single_cls);
  EXPECT_EQ(options.json, "out.json");
  EXPECT_EQ(val("--weights a.pt --conf 0.5").train.conf, 0.5);
}

TEST(ValOptions, NeedWeights) {
  for (const auto* options : {"--data my.yaml", ""})
    EXPECT_EQ(refused(options), "there are no --weights; name a .pt file with --weights");
  EXPECT_THROW(val("--task speed"), CLI::ParseError);
  EXPECT_THROW(val("--conf 1.5"), CLI::ParseError);
}

}  // namespace
}  // namespace evolve::cli

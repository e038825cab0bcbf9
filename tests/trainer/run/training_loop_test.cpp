#include "trainer/run/training_loop.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <set>

#include "hyp/space.hpp"
#include "tests/trainer/data/files.hpp"
#include "tests/trainer/threads.hpp"
#include "trainer/run/setup.hpp"

namespace evolve::trainer {
namespace {

TrainOptions small_training() {
  TrainOptions options;
  options.data = "shapes";
  options.cfg = "yolov5p.yaml";
  options.epochs = 3;
  options.imgsz = 64;
  return options;
}

hyp::Hyperparameters default_hyp() {
  return hyp::start_of(hyp::default_space());
}

/// The losses of three epochs, where so many threads besides the training's make batches.
std::vector<std::array<double, 3>> losses_of_three_epochs(int batch_workers) {
  const test::Threads one(1);
  const auto options = small_training();
  const auto hyp = default_hyp();
  PreparedData data(options, 32, 1);
  TrainingLoop loop(options, hyp, 1, data, make_detector(options, hyp, {}, 1, data),
                    {.device = torch::kCPU, .threads = 1 + batch_workers});
  const std::vector<double> no_ap(3);
  std::vector<std::array<double, 3>> losses;
  for (int epoch = 0; epoch < 3; ++epoch)
    losses.push_back(loop.train_epoch(epoch, no_ap, {}).losses);
  return losses;
}

TEST(TrainingLoop, TrainsTheSameWhoeverMakesItsBatches) {
  const auto alone = losses_of_three_epochs(0);
  EXPECT_NE(alone[0], alone[1]);
  EXPECT_EQ(losses_of_three_epochs(2), alone);
}

// Its strides are 8 and 16, those of its backbone go to 32.
TEST(TrainingLoop, TakesImagesOfWholeStridesOfTheBackboneToo) {
  const test::Threads one(1);
  const data::TemporaryFolder folder;
  auto options = small_training();
  options.cfg = data::write_file(folder / "p34.yaml",
                                 "nc: 3\ndepth_multiple: 0.33\nwidth_multiple: 0.125\n"
                                 "anchors: [[10,13, 16,30], [30,61, 62,45]]\n"
                                 "backbone:\n"
                                 "  [[-1, 1, Conv, [64, 6, 2, 2]],\n"
                                 "   [-1, 1, Conv, [128, 3, 2]],\n"
                                 "   [-1, 1, Conv, [256, 3, 2]],\n"
                                 "   [-1, 1, Conv, [512, 3, 2]],\n"
                                 "   [-1, 1, Conv, [1024, 3, 2]]]\n"
                                 "head:\n"
                                 "  [[-1, 1, nn.Upsample, [None, 2, nearest]],\n"
                                 "   [[-1, 3], 1, Concat, [1]],\n"
                                 "   [-1, 1, Conv, [256, 1, 1]],\n"
                                 "   [[2, 7], 1, Detect, [nc, anchors]]]\n");
  options.multi_scale = true;
  const auto hyp = default_hyp();
  for (const bool rect : {false, true}) {
    options.rect = rect;
    PreparedData data(options, 32, 1);
    TrainingLoop loop(options, hyp, 1, data, make_detector(options, hyp, {}, 1, data),
                      {.device = torch::kCPU, .threads = 1});
    const std::vector<double> no_ap(3);
    EXPECT_GT(loop.train_epoch(0, no_ap, {}).losses[0], 0);
  }
}

TEST(TrainingLoop, AccumulatesForTheBatchSizeAskedForThoughThereAreFewerImages) {
  const test::Threads one(1);
  auto options = small_training();
  options.fraction = 1. / 120;  // two images: of such batches 32 would make a step
  options.batch_size = 64;
  const auto hyp = default_hyp();
  PreparedData data(options, 32, 1);
  TrainingLoop loop(options, hyp, 1, data, make_detector(options, hyp, {}, 1, data),
                    {.device = torch::kCPU, .threads = 1});
  const std::vector<double> no_ap(3);
  for (int epoch = 0; epoch < 3; ++epoch) {
    EXPECT_EQ(loop.train_epoch(epoch, no_ap, {}).batches, 1);
    EXPECT_EQ(loop.state().step.ema.updates, epoch + 1);
  }
}

TEST(TrainingLoop, AveragesFrozenLayersToTheWeightsThatTheyKeep) {
  const test::Threads one(1);
  auto options = small_training();
  options.fraction = 0.3;
  options.freeze = {10};
  const auto hyp = default_hyp();
  PreparedData data(options, 32, 1);
  TrainingLoop loop(options, hyp, 1, data, make_detector(options, hyp, {}, 1, data),
                    {.device = torch::kCPU, .threads = 1});
  loop.train_epoch(0, std::vector<double>(3), {});
  const auto average = loop.average(), fresh = make_detector(options, hyp, {}, 1, data);
  const auto averaged = average->named_parameters();
  for (const auto& item : fresh->named_parameters()) {
    const int layer = std::stoi(item.key().substr(6));  // "model.3.cv1.conv.weight"
    EXPECT_EQ(torch::equal(averaged[item.key()], item.value()), layer < 10) << item.key();
  }
}

TEST(TrainingLoop, ScalesBatchesFromHalfTheSizeToOneAndAHalf) {
  const test::Threads one(1);
  auto options = small_training();
  options.fraction = 0.5;
  options.batch_size = 4;  // 30 batches: none of three sizes is left out by chance
  options.multi_scale = true;
  const auto hyp = default_hyp();
  PreparedData data(options, 32, 1);
  TrainingLoop loop(options, hyp, 1, data, make_detector(options, hyp, {}, 1, data),
                    {.device = torch::kCPU, .threads = 1});
  std::set<int> sizes;
  loop.train_epoch(0, std::vector<double>(3),
                   [&](const EpochProgress& progress) { sizes.insert(progress.imgsz); });
  EXPECT_THAT(sizes, testing::ElementsAre(32, 64, 96));
}

TEST(TrainingLoop, DrawsTheImagesOfAnEpochByTheApsThatAreKnownWhenItBegins) {
  const test::Threads one(1);
  auto options = small_training();
  options.fraction = 0.3;
  options.image_weights = true;
  const auto hyp = default_hyp();
  PreparedData data(options, 32, 1);
  const auto losses_of_second_epoch = [&](const std::vector<double>& ap) {
    TrainingLoop loop(options, hyp, 1, data, make_detector(options, hyp, {}, 1, data),
                      {.device = torch::kCPU, .threads = 1});
    loop.train_epoch(0, std::vector<double>(3), {});
    return loop.train_epoch(1, ap, {}).losses;
  };
  EXPECT_NE(losses_of_second_epoch({1, 0, 0}), losses_of_second_epoch({0, 0, 0}));
}

TEST(TrainingLoop, SmoothsLabelsWhereAsked) {
  const test::Threads one(1);
  auto options = small_training();
  options.amp = false;
  const auto hyp = default_hyp();
  PreparedData data(options, 32, 1);
  // Of a detector that has learnt nothing yet.
  const auto metrics = [&](double label_smoothing) {
    options.label_smoothing = label_smoothing;
    const TrainingLoop loop(options, hyp, 1, data, make_detector(options, hyp, {}, 1, data),
                            {.device = torch::kCPU, .threads = 1});
    return loop.validate().metrics;
  };
  const auto hard = metrics(0), smooth = metrics(0.2);
  EXPECT_EQ(smooth.box_loss, hard.box_loss);
  EXPECT_EQ(smooth.obj_loss, hard.obj_loss);
  EXPECT_GT(smooth.cls_loss, hard.cls_loss);
}

TEST(TrainingLoop, TellsTheLearningRatesOfAnEpochsLastIteration) {
  const auto options = small_training();
  const auto hyp = default_hyp();
  PreparedData data(options, 32, 1);
  const TrainingLoop loop(options, hyp, 1, data, make_detector(options, hyp, {}, 1, data),
                          {.device = torch::kCPU, .threads = 1});
  // That of the second of three epochs is number 29, counted from 0, of 100 that warm up: from 0.1,
  // or 0 where it is no bias, to the rate that a line from 0.01 to 0.0001 has after a third of it.
  const double rate = 0.01 * (2. / 3 * 0.99 + 0.01);
  const auto [bias, decay, norm] = loop.learning_rates(1);
  EXPECT_NEAR(bias, 0.71 * 0.1 + 0.29 * rate, 1e-12);
  EXPECT_NEAR(decay, 0.29 * rate, 1e-12);
  EXPECT_EQ(norm, decay);
}

TEST(ValidateOptions, AreThoseOfTheTraining) {
  const TrainOptions options{.single_cls = true, .workers = 3, .conf = 0.25, .iou = 0.45};
  const auto with = validate_options(options, {.device = torch::kCPU, .threads = 3});
  EXPECT_EQ(with.nms.conf, 0.25);
  EXPECT_EQ(with.nms.iou, 0.45);
  EXPECT_TRUE(with.nms.agnostic);
  EXPECT_TRUE(with.single_cls);
  EXPECT_EQ(with.workers, 2);  // a core is left for the validation itself
  const auto usual = validate_options({}, {.device = torch::kCPU});
  EXPECT_EQ(usual.nms.conf, 0.001);
  EXPECT_EQ(usual.nms.iou, 0.6);
  EXPECT_FALSE(usual.nms.agnostic);
  EXPECT_FALSE(usual.single_cls);
}

}  // namespace
}  // namespace evolve::trainer

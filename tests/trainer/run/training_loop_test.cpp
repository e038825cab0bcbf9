#include "trainer/run/training_loop.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace evolve::trainer

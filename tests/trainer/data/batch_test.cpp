#include "trainer/data/batch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace evolve::data {
namespace {

using testing::ElementsAre;

/// Images of these sizes, the longer side `imgsz`, each with one label of its own class.
Dataset images(int imgsz, const std::vector<cv::Size>& sizes) {
  Dataset dataset{.names = {}, .imgsz = imgsz, .images = {}};
  for (const cv::Size& size : sizes) {
    const int cls = static_cast<int>(dataset.images.size());
    Image image;
    image.original_height = 10 * size.height;
    image.original_width = 10 * size.width;
    image.pixels = cv::Mat(size, CV_8UC3, cv::Scalar(cls, 10 + cls, 20 + cls));
    image.labels = {{cls, 0.5F, 0.5F, 0.5F, 0.5F}};
    dataset.images.push_back(image);
  }
  return dataset;
}

constexpr Augmentation strong{.hsv_h = 0.1,
                              .hsv_s = 0.5,
                              .hsv_v = 0.5,
                              .degrees = 20,
                              .translate = 0.2,
                              .scale = 0.5,
                              .shear = 5,
                              .flipud = 0.5,
                              .fliplr = 0.5,
                              .mosaic = 0.7,
                              .mixup = 0.5};

TEST(EpochOrder, IsAPermutationOfSeedAndEpoch) {
  const auto order = epoch_order(50, 3, 1);
  EXPECT_EQ(order, epoch_order(50, 3, 1));
  EXPECT_NE(order, epoch_order(50, 3, 2));
  EXPECT_NE(order, epoch_order(50, 4, 1));
  auto sorted = order;
  std::sort(sorted.begin(), sorted.end());
  std::vector<int> all(50);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(sorted, all);
  EXPECT_NE(order, all);
}

TEST(WeightedOrder, PrefersHeavyImages) {
  std::vector<double> weights(300, 1);
  weights[0] = 0;
  weights[7] = 299;
  const auto order = weighted_order(weights, 1, 0);
  EXPECT_EQ(order.size(), 300U);
  EXPECT_EQ(std::count(order.begin(), order.end(), 0), 0);
  EXPECT_NEAR(static_cast<double>(std::count(order.begin(), order.end(), 7)), 150, 40);
}

TEST(SquareBatches, KeepTheOrderAndASmallerLastOne) {
  const Dataset dataset = images(32, {{32, 32}, {32, 32}, {32, 16}});
  const auto batches = square_batches(dataset, {2, 0, 1}, 2);
  ASSERT_EQ(batches.size(), 2U);
  EXPECT_THAT(batches[0].images, ElementsAre(2, 0));
  EXPECT_THAT(batches[1].images, ElementsAre(1));
  EXPECT_EQ(batches[1].height, 32);
  EXPECT_EQ(batches[1].width, 32);
}

TEST(RectBatches, SortByAspectRatioAndFitEachBatch) {
  const Dataset dataset = images(64, {{64, 64}, {64, 48}, {32, 64}, {64, 32}, {40, 64}, {64, 47}});
  const auto batches = rect_batches(dataset, 2, 32, 0.5);
  ASSERT_EQ(batches.size(), 3U);
  EXPECT_THAT(batches[0].images, ElementsAre(3, 5));
  EXPECT_EQ(batches[0].height, 64);  // ceil(47/64 * 2 + 0.5) strides
  EXPECT_EQ(batches[0].width, 96);
  EXPECT_THAT(batches[1].images, ElementsAre(1, 0));
  EXPECT_EQ(batches[1].height, 96);  // a square among them
  EXPECT_EQ(batches[1].width, 96);
  EXPECT_THAT(batches[2].images, ElementsAre(4, 2));
  EXPECT_EQ(batches[2].height, 96);
  EXPECT_EQ(batches[2].width, 64);  // ceil(40/64 * 2 + 0.5) strides
  EXPECT_EQ(rect_batches(dataset, 2, 32, 0)[0].width, 64);
}

TEST(ValidationBatch, LetterboxesAndKeepsTheWayBack) {
  const auto set = validation_set(images(64, {{64, 48}}), 16, 32, true);
  ASSERT_EQ(set.batches.size(), 1U);
  const Batch batch = validation_batch(set.dataset, set.batches[0]);
  EXPECT_EQ(batch.size, 1);
  EXPECT_EQ(batch.height, 64);
  EXPECT_EQ(batch.width, 96);
  ASSERT_EQ(batch.pixels.size(), 3U * 64 * 96);
  const auto at = [&](int channel, int y, int x) {
    return batch.pixels[static_cast<std::size_t>((channel * 64 + y) * 96 + x)];
  };
  EXPECT_EQ(at(0, 0, 0), 114);
  EXPECT_EQ(at(0, 8, 16), 20);  // red
  EXPECT_EQ(at(2, 55, 79), 0);  // blue
  EXPECT_EQ(at(2, 56, 79), 114);
  ASSERT_EQ(batch.targets.size(), 1U);
  EXPECT_THAT(batch.targets[0], ElementsAre(0, 0, 0.5F, 0.5F, 32.0F / 96, 24.0F / 64));
  EXPECT_EQ(batch.shapes[0].original_height, 480);
  EXPECT_EQ(batch.shapes[0].ratio, 0.1);
  EXPECT_EQ(batch.shapes[0].pad_x, 16);
  EXPECT_EQ(batch.shapes[0].pad_y, 8);
}

TEST(ValidationBatch, IsASquareWithoutRect) {
  const auto set = validation_set(images(64, {{64, 48}, {64, 32}, {64, 64}}), 2, 32, false);
  ASSERT_EQ(set.batches.size(), 2U);
  EXPECT_EQ(set.batches[0].height, 64);
  EXPECT_EQ(set.batches[0].width, 64);
  EXPECT_THAT(set.batches[0].images, ElementsAre(0, 1));
  EXPECT_EQ(validation_batch(set.dataset, set.batches[0]).targets[1][0], 1);
  EXPECT_EQ(set.batches[1].images.size(), 1U);
}

TEST(TrainBatch, DependsOnSeedEpochAndPlaceOnly) {
  const Dataset dataset = images(32, {{32, 32}, {32, 24}, {24, 32}, {32, 16}, {32, 30}});
  const EpochPlan plan = plan_epoch(dataset, epoch_order(5, 1, 0), 2, 1, 0);
  ASSERT_EQ(plan.batches.size(), 3U);
  const Batch batch = train_batch(dataset, plan, 1, strong);
  EXPECT_EQ(batch.pixels, train_batch(dataset, plan, 1, strong).pixels);
  const EpochPlan other = plan_epoch(dataset, epoch_order(5, 1, 0), 2, 2, 0);
  EXPECT_NE(batch.pixels, train_batch(dataset, other, 1, strong).pixels);
  EXPECT_NE(
      batch.pixels,
      train_batch(dataset, plan_epoch(dataset, epoch_order(5, 1, 0), 2, 1, 1), 1, strong).pixels);

  // The same places in one large batch are the same samples.
  const Batch whole =
      train_batch(dataset, plan_epoch(dataset, epoch_order(5, 1, 0), 5, 1, 0), 0, strong);
  const std::size_t one = 3 * 32 * 32;
  EXPECT_TRUE(std::equal(batch.pixels.begin(), batch.pixels.end(),
                         whole.pixels.begin() + static_cast<std::ptrdiff_t>(2 * one)));
}

TEST(TrainBatch, NumbersTargetsByPlaceInTheBatch) {
  const Dataset dataset = images(32, {{32, 32}, {32, 32}, {32, 32}});
  const EpochPlan plan = plan_epoch(dataset, {2, 0, 1}, 3, 1, 0);
  const Batch batch = train_batch(dataset, plan, 0, {});
  EXPECT_THAT(batch.images, ElementsAre(2, 0, 1));
  ASSERT_EQ(batch.targets.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(batch.targets[i][0], static_cast<float>(i));
    EXPECT_EQ(batch.targets[i][1], static_cast<float>(batch.images[i]));
  }
}

TEST(TrainBatch, TakesMosaicsFromThePlannedImagesOnly) {
  const Dataset dataset = images(32, {{32, 32}, {32, 32}, {32, 32}});
  const EpochPlan plan = plan_epoch(dataset, {1, 1, 1, 1}, 4, 1, 0);
  const Batch batch = train_batch(dataset, plan, 0, {.translate = 0.1, .mosaic = 1});
  EXPECT_GT(batch.targets.size(), 4U);
  for (const auto& target : batch.targets) EXPECT_EQ(target[1], 1);
}

TEST(TrainBatch, FillsTheRectanglesOfARectEpoch) {
  const Dataset dataset = images(64, {{64, 30}, {64, 28}, {28, 64}});
  const EpochPlan plan = plan_rect_epoch(dataset, 2, 32, 1, 0);
  const Batch batch = train_batch(dataset, plan, 0, strong);
  EXPECT_EQ(batch.height, 32);
  EXPECT_EQ(batch.width, 64);
  EXPECT_EQ(batch.pixels.size(), 2U * 3 * 32 * 64);
  EXPECT_EQ(train_batch(dataset, plan, 1, strong).width, 32);
}

}  // namespace
}  // namespace evolve::data

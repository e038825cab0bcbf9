// The program of tensor operators against OpenCV.

#include "trainer/render/render.hpp"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <opencv2/core.hpp>

#include "trainer/data/data.hpp"
#include "trainer/data/pixels.hpp"
#include "trainer/device/load.hpp"

namespace evolve::trainer {
namespace {

using data::Augmentation;
using data::Dataset;

/// Noise of a grain of some pixels, which has every contrast, in these sizes, with an outlined
/// object in each image.
Dataset noise(int imgsz, const std::vector<cv::Size>& sizes) {
  Dataset dataset{.names = {"a"}, .imgsz = imgsz, .images = {}};
  cv::RNG rng(1);
  for (const cv::Size& size : sizes) {
    data::Image image;
    image.pixels.create(size, CV_8UC3);
    rng.fill(image.pixels, cv::RNG::UNIFORM, 0, 256);
    image.original_width = size.width;
    image.original_height = size.height;
    image.labels = {{0, 0.25F, 0.5F, 0.3F, 0.6F}};
    image.segments = {{{0.1F, 0.2F}, {0.4F, 0.3F}, {0.35F, 0.8F}, {0.15F, 0.7F}}};
    dataset.images.push_back(image);
  }
  return dataset;
}

Dataset noise(int imgsz) {
  return noise(imgsz, {{imgsz, imgsz},
                       {imgsz, imgsz * 3 / 4},
                       {imgsz / 2, imgsz},
                       {imgsz, imgsz / 3},
                       {imgsz * 2 / 3 + 1, imgsz}});
}

/// uint8 [samples, 3, height, width], as a Batch has them.
torch::Tensor rendered(const Renderer& renderer, const std::vector<data::Recipe>& recipes) {
  const auto tables = tables_of(recipes, renderer.store());
  const auto bytes = torch::empty(tables.bytes(), torch::kByte);
  tables.write(static_cast<std::byte*>(bytes.data_ptr()));
  const auto images = renderer.render(tables, bytes);
  EXPECT_TRUE(images.is_contiguous(at::MemoryFormat::ChannelsLast));
  return images.mul(255).round().to(torch::kByte).contiguous();
}

/// How many bytes of how many differ, and by how much at most.
struct Difference {
  std::int64_t differing = 0, of = 0;
  int most = 0;
};

/// Renders epochs both ways.
Difference compare(const Dataset& dataset, const Augmentation& augmentation, int epochs) {
  const Renderer renderer(store_images(dataset, torch::kCPU));
  const int images = static_cast<int>(dataset.images.size());
  Difference difference;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    const auto plan =
        data::plan_epoch(dataset, data::epoch_order(images, 7, epoch), images, 7, epoch);
    auto batch = data::train_batch(dataset, plan, 0, augmentation);
    const auto expected = torch::from_blob(
        batch.pixels.data(), {batch.size, 3, batch.height, batch.width}, torch::kByte);
    const auto found = rendered(renderer, draw_recipes(dataset, plan, 0, augmentation));
    const auto off = (found.to(torch::kInt) - expected.to(torch::kInt)).abs();
    difference.differing += off.count_nonzero().item<std::int64_t>();
    difference.of += off.numel();
    difference.most = std::max(difference.most, off.max().item<int>());
  }
  std::printf("%ld of %ld differ, by %d at most\n", difference.differing, difference.of,
              difference.most);
  return difference;
}

TEST(Render, LetterboxesToThePixel) {
  EXPECT_EQ(compare(noise(64), {}, 2).differing, 0);
}

TEST(Render, ShrinksAnImageOfAPixelTooManyInALetterboxOnly) {
  const Dataset dataset = noise(64, {{65, 48}, {65, 65}, {30, 65}, {64, 64}});
  EXPECT_EQ(compare(dataset, {.scale = 0.5, .mosaic = 0.5}, 20).differing, 0);
}

TEST(Render, FillsRectanglesToThePixel) {
  const Dataset dataset = noise(64, {{64, 30}, {64, 40}, {64, 20}});
  const Renderer renderer(store_images(dataset, torch::kCPU));
  const auto plan = data::plan_rect_epoch(dataset, 3, 32, 7, 0);
  const Augmentation augmentation{.degrees = 20, .scale = 0.5, .fliplr = 0.5};
  auto batch = data::train_batch(dataset, plan, 0, augmentation);
  const auto found = rendered(renderer, draw_recipes(dataset, plan, 0, augmentation));
  EXPECT_TRUE(
      torch::equal(found, torch::from_blob(batch.pixels.data(), {3, 3, 64, 64}, torch::kByte)));
}

/// 424 x 318 at 640 px is 640 x 481, of which a letterbox of 640 x 480 shows 639 x 480.
TEST(Render, KnowsWhatARectangleShowsInASizeThatIsNotStored) {
  Dataset dataset = noise(640, {{640, 481}});
  dataset.images[0].original_width = 424;
  dataset.images[0].original_height = 318;
  const auto store = store_images(dataset, torch::kCPU);
  const auto rectangles = data::plan_rect_epoch(dataset, 1, 32, 7, 0);
  EXPECT_FALSE(all_stored(draw_recipes(dataset, rectangles, 0, {}), store));
  const auto squares = data::plan_epoch(dataset, {0}, 1, 7, 0);
  EXPECT_TRUE(all_stored(draw_recipes(dataset, squares, 0, {}), store));
}

TEST(Render, MakesALargeBatchInParts) {
  const Dataset dataset = noise(1024);
  const Renderer renderer(store_images(dataset, torch::kCPU));
  const auto plan = data::plan_epoch(dataset, data::epoch_order(5, 7, 0), 5, 7, 0);
  const auto recipes = draw_recipes(dataset, plan, 0, {.mosaic = 1, .mixup = 1});
  const auto parts = tables_in_parts(recipes, renderer.store());
  ASSERT_EQ(parts.size(), 2U);  // ten layers of a million pixels, eight at once
  EXPECT_EQ(parts[0].samples, 4);
  EXPECT_EQ(parts[1].samples, 1);
  const auto load = staged(
      {{.batch = data::batch_of(plan.batches[0], recipes), .renderer = &renderer, .tables = parts}},
      torch::kCPU);
  const auto found = on_device(load).images.mul(255).round().to(torch::kByte).contiguous();
  EXPECT_TRUE(torch::equal(found, rendered(renderer, recipes)));
}

TEST(Render, WarpsToThePixel) {
  EXPECT_EQ(compare(noise(64), {.degrees = 30, .translate = 0.3, .scale = 0.7, .shear = 10}, 20)
                .differing,
            0);
}

TEST(Render, TiltsToThePixel) {
  const Augmentation augmentation{
      .degrees = 30, .translate = 0.3, .scale = 0.7, .shear = 10, .perspective = 0.001};
  EXPECT_EQ(compare(noise(64), augmentation, 20).differing, 0);
}

TEST(Render, MakesMosaicsToThePixel) {
  EXPECT_EQ(compare(noise(64), {.translate = 0.1, .scale = 0.5, .mosaic = 0.8}, 20).differing, 0);
}

TEST(Render, CopiesOutlinedObjectsToThePixel) {
  EXPECT_EQ(compare(noise(64), {.scale = 0.5, .mosaic = 1, .copy_paste = 0.7}, 20).differing, 0);
}

TEST(Render, MixesToThePixel) {
  EXPECT_EQ(compare(noise(64), {.scale = 0.5, .mosaic = 1, .mixup = 0.6}, 20).differing, 0);
}

TEST(Render, FlipsToThePixel) {
  EXPECT_EQ(compare(noise(64), {.degrees = 10, .flipud = 0.5, .fliplr = 0.5, .mosaic = 0.5}, 20)
                .differing,
            0);
}

/// All but one number in a thousand are OpenCV's, and those are off by 1.
void expect_almost_the_same(const Difference& difference) {
  EXPECT_LE(difference.differing, difference.of / 1000);
  EXPECT_LE(difference.most, 1);
}

TEST(Render, ChangesColoursAsOpenCvButForRounding) {
  expect_almost_the_same(compare(noise(64), {.hsv_h = 0.5, .hsv_s = 0.9, .hsv_v = 0.9}, 20));
}

TEST(Render, DoesAllOfItAsOpenCvButForRounding) {
  const Augmentation everything{.hsv_h = 0.1,
                                .hsv_s = 0.9,
                                .hsv_v = 0.9,
                                .degrees = 45,
                                .translate = 0.9,
                                .scale = 0.9,
                                .shear = 10,
                                .perspective = 0.001,
                                .flipud = 0.5,
                                .fliplr = 0.5,
                                .mosaic = 0.7,
                                .mixup = 0.5,
                                .copy_paste = 0.5};
  for (const int imgsz : {64, 96, 320})
    expect_almost_the_same(compare(noise(imgsz), everything, 10));
}

}  // namespace
}  // namespace evolve::trainer

#include "trainer/data/augment.hpp"

#include <gtest/gtest.h>

#include <opencv2/core.hpp>

#include "tests/refusal.hpp"
#include "tests/trainer/data/replay.hpp"
#include "trainer/data/copy_paste.hpp"

namespace evolve::data {
namespace {

/// Two plain images of 32 x 32, grey 100 with one object and grey 200 with another.
Dataset two_images() {
  Dataset dataset{.names = {}, .imgsz = 32, .images = {}};
  for (const int grey : {100, 200}) {
    Image image;
    image.pixels = cv::Mat(32, 32, CV_8UC3, cv::Scalar::all(grey));
    image.labels = {{grey, 0.5F, 0.25F, 0.5F, 0.25F}};
    dataset.images.push_back(image);
  }
  return dataset;
}

/// The draws of a perspective that turns, scales and shifts nothing.
const std::vector<double> plain = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.5, 0.5};

/// Appends the draws of a mosaic of one image around the canvas's centre that nothing turns, scales
/// or shifts.
void append_plain_mosaic(nlohmann::json& records, int image) {
  records.push_back({"random.uniform", 16, 48, 32.9});
  records.push_back({"random.uniform", 16, 48, 32.1});
  records.push_back({"random.choices", {image, image, image}});
  records.push_back({"random.shuffle_result", {image, image, image, image}});
  append_uniforms(records, plain);
}

TEST(Sample, MixesTwoMosaics) {
  nlohmann::json records = nlohmann::json::array();
  records.push_back({"random.random", 0.99});
  append_plain_mosaic(records, 0);
  records.push_back({"random.random", 0.49});
  records.push_back({"random.choice", 1});
  append_plain_mosaic(records, 1);
  records.push_back({"np.random.beta", 0.25});
  records.push_back({"random.random", 0.5});
  records.push_back({"random.random", 0.5});
  Replay rng(records);
  Sample sample;
  render(two_images(),
         draw_recipe(two_images(), 0, {32, 32}, {{0, 1}, true}, {.mosaic = 1, .mixup = 0.5}, rng),
         sample);
  EXPECT_TRUE(rng.finished());
  // The centre crop shows a quarter of each tile; in two of them it cuts through the objects.
  EXPECT_EQ(cv::norm(sample.pixels, cv::Mat(32, 32, CV_8UC3, cv::Scalar::all(175)), cv::NORM_INF),
            0);
  ASSERT_EQ(sample.labels.size(), 4U);
  EXPECT_EQ(sample.labels[0], (Label{100, 0.125F, 0.75F, 0.25F, 0.25F}));
}

TEST(Sample, FlipsUpDownThenLeftRight) {
  Dataset dataset = two_images();
  dataset.images[0].pixels.at<cv::Vec3b>(0, 0) = {1, 2, 3};
  nlohmann::json records = nlohmann::json::array();
  records.push_back({"random.random", 0.5});
  append_uniforms(records, plain);
  records.push_back({"random.random", 0.1});
  records.push_back({"random.random", 0.1});
  Replay rng(records);
  Sample sample;
  render(dataset,
         draw_recipe(dataset, 0, {32, 32}, {{0, 1}, true}, {.flipud = 0.2, .fliplr = 0.2}, rng),
         sample);
  EXPECT_TRUE(rng.finished());
  EXPECT_EQ(sample.pixels.at<cv::Vec3b>(31, 31), cv::Vec3b(1, 2, 3));
  EXPECT_EQ(sample.labels, (std::vector<Label>{{100, 0.5F, 0.75F, 0.5F, 0.25F}}));
}

TEST(Sample, MakesNoMosaicInARectangle) {
  nlohmann::json records;
  append_uniforms(records, plain);
  records.push_back({"random.random", 0.5});
  records.push_back({"random.random", 0.5});
  Replay rng(records);
  Sample sample;
  render(two_images(), draw_recipe(two_images(), 1, {32, 64}, {{0, 1}, false}, {.mosaic = 1}, rng),
         sample);
  EXPECT_TRUE(rng.finished());
  EXPECT_EQ(sample.pixels.size(), cv::Size(32, 64));
  EXPECT_EQ(sample.labels, (std::vector<Label>{{200, 0.5F, 0.375F, 0.5F, 0.125F}}));
}

TEST(Sample, DrawsColoursOnlyWhenTheyMayChange) {
  nlohmann::json records = nlohmann::json::array();
  records.push_back({"random.random", 0.5});
  append_uniforms(records, plain);
  records.push_back({"np.random.uniform", {0, 0, -1}});
  records.push_back({"random.random", 0.5});
  records.push_back({"random.random", 0.5});
  Replay rng(records);
  Sample sample;
  render(two_images(), draw_recipe(two_images(), 0, {32, 32}, {{0, 1}, true}, {.hsv_v = 0.5}, rng),
         sample);
  EXPECT_TRUE(rng.finished());
  EXPECT_EQ(sample.pixels.at<cv::Vec3b>(5, 5), cv::Vec3b(50, 50, 50));
}

/// A dark image of 20 x 10 with a bright object on the left.
struct CopyPaste : testing::Test {
  cv::Mat image{10, 20, CV_8UC3, cv::Scalar::all(0)};
  Objects objects{{{3, 1, 1, 5, 5}}, {{{1, 1}, {5, 1}, {5, 5}, {1, 5}}}};

  CopyPaste() { image(cv::Rect(1, 1, 5, 5)).setTo(cv::Scalar::all(250)); }
};

TEST_F(CopyPaste, MirrorsAnObject) {
  Replay rng(nlohmann::json::parse(R"([["random.sample", [0]]])"));
  paste(image, draw_copies(objects, image.cols, 1, rng));
  EXPECT_EQ(objects.boxes, (std::vector<Box>{{3, 1, 1, 5, 5}, {3, 15, 1, 19, 5}}));
  EXPECT_EQ(objects.outlines[1], (Segment{{19, 1}, {15, 1}, {15, 5}, {19, 5}}));
  EXPECT_EQ(image.at<cv::Vec3b>(3, 16)[0], 250);
  EXPECT_EQ(image.at<cv::Vec3b>(3, 3)[0], 250);
  EXPECT_EQ(cv::countNonZero(image.reshape(1) == 250), 2 * 25 * 3);
}

TEST_F(CopyPaste, HidesNoOtherObject) {
  objects.boxes.push_back({4, 13, 1, 17, 5});
  objects.outlines.emplace_back();
  Replay rng(nlohmann::json::parse(R"([["random.sample", [0]]])"));
  paste(image, draw_copies(objects, image.cols, 1, rng));
  EXPECT_EQ(objects.boxes.size(), 2U);
  EXPECT_EQ(image.at<cv::Vec3b>(3, 16)[0], 0);
}

TEST_F(CopyPaste, NeedsOutlinesAndAShare) {
  Replay rng(nlohmann::json::array());
  paste(image, draw_copies(objects, image.cols, 0, rng));
  objects.outlines[0].clear();
  paste(image, draw_copies(objects, image.cols, 1, rng));
  EXPECT_EQ(objects.boxes.size(), 1U);
}

TEST(Augmentation, NeedsAllOfItsHyperparameters) {
  hyp::Hyperparameters hyp;
  EXPECT_NE(test::refusal([&] { augmentation_of(hyp); }).find("hsv_h"), std::string::npos);
  for (const char* name : {"hsv_h", "hsv_s", "hsv_v", "degrees", "translate", "scale", "shear",
                           "perspective", "flipud", "fliplr", "mosaic", "mixup", "copy_paste"}) {
    hyp.set(name, static_cast<double>(hyp.size()));
  }
  const Augmentation augmentation = augmentation_of(hyp);
  EXPECT_EQ(augmentation.hsv_v, 2);
  EXPECT_EQ(augmentation.perspective, 7);
  EXPECT_EQ(augmentation.copy_paste, 12);
}

}  // namespace
}  // namespace evolve::data

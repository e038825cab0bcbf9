#include "trainer/data/dataset.hpp"

#include <gtest/gtest.h>

#include <opencv2/core.hpp>

#include "tests/refusal.hpp"
#include "tests/trainer/data/files.hpp"

namespace evolve::data {
namespace {

struct DatasetTest : testing::Test {
  TemporaryFolder folder;
  DataConfig config{.file = "d.yaml", .names = {"cat", "dog"}, .train = {}, .val = {}, .test = {}};
};

TEST_F(DatasetTest, DecodesAndResizesWithTheLongerSideAtImgsz) {
  config.train = {write_image(folder / "images/a.png", 20, 16),
                  write_image(folder / "images/b.png", 30, 101)};
  write_file(folder / "labels/a.txt", "1 0.5 0.25 0.5 0.5\n");
  const Dataset dataset = load(config, Split::train, {.imgsz = 64});
  ASSERT_EQ(dataset.images.size(), 2U);
  const Image& a = dataset.images[0];
  EXPECT_EQ(a.pixels.size(), cv::Size(64, 52));  // 51.2, rounded up
  EXPECT_EQ(a.original_width, 20);
  EXPECT_EQ(a.original_height, 16);
  EXPECT_EQ(a.labels, (std::vector<Label>{{1, 0.5F, 0.25F, 0.5F, 0.5F}}));
  EXPECT_EQ(dataset.images[1].pixels.size(), cv::Size(20, 64));  // 19.01
  EXPECT_EQ(dataset.names, config.names);
}

TEST_F(DatasetTest, LeavesAImageOfTheRightSizeAlone) {
  config.train = {write_image(folder / "a.png", 20, 16)};
  const cv::Mat pixels = load(config, Split::train, {.imgsz = 20}).images[0].pixels;
  EXPECT_EQ(pixels.at<cv::Vec3b>(3, 5), cv::Vec3b(50, 36, 77));
}

TEST_F(DatasetTest, TurnsAImageByItsExifOrientation) {
  const std::string file = write_image(folder / "a.jpg", 40, 20);
  turn_by_exif(file, "MM");
  config.train = {file};
  const Image image = load(config, Split::train, {.imgsz = 40}).images[0];
  EXPECT_EQ(image.pixels.size(), cv::Size(20, 40));
  EXPECT_EQ(image.original_height, 40);
}

TEST_F(DatasetTest, IsTheSameWithAnyNumberOfThreads) {
  for (int i = 0; i < 9; ++i) {
    config.train.push_back(write_image(folder / (std::to_string(i) + ".png"), 20 + i, 16));
  }
  const Dataset one = load(config, Split::train, {.imgsz = 32});
  const Dataset three = load(config, Split::train, {.imgsz = 32, .threads = 3});
  ASSERT_EQ(three.images.size(), 9U);
  for (std::size_t i = 0; i < 9; ++i) {
    EXPECT_EQ(three.images[i].file, config.train[i]);
    EXPECT_EQ(cv::norm(one.images[i].pixels, three.images[i].pixels, cv::NORM_INF), 0);
  }
}

TEST_F(DatasetTest, DecodesAgainWhatDoesNotFitIntoMemory) {
  for (int i = 0; i < 3; ++i)
    config.train.push_back(write_image(folder / (std::to_string(i) + ".png"), 40, 32));
  const Dataset kept = load(config, Split::train, {.imgsz = 20, .training = false});
  int asked = 0;
  const Dataset tight =
      load(config, Split::train, {.imgsz = 20, .training = false, .memory_budget = [&] {
                                    return std::uint64_t{asked++ == 0 ? 1500U : 0U};
                                  }});
  EXPECT_FALSE(tight.images[0].pixels.empty());  // 20 x 16 x 3 bytes
  EXPECT_TRUE(tight.images[1].pixels.empty());
  EXPECT_TRUE(tight.on_disk);
  EXPECT_FALSE(kept.on_disk);
  EXPECT_EQ(tight.images[1].original_width, 40);
  EXPECT_EQ(cv::norm(pixels_of(kept, 1), pixels_of(tight, 1), cv::NORM_INF), 0);
  EXPECT_EQ(size_of(tight, 1), cv::Size(20, 16));
  write_image(config.train[1], 40, 20);
  EXPECT_EQ(test::refusal([&] { pixels_of(tight, 1); }),
            config.train[1] + ": has another size than at the start; bring it back as it was");
  std::filesystem::remove(config.train[2]);
  EXPECT_EQ(test::refusal([&] { pixels_of(tight, 2); }),
            config.train[2] + ": there is no such image; check the path, or take it off its list");
}

TEST_F(DatasetTest, ShrinksByAreaForValidationOnly) {
  cv::Mat checkers(40, 40, CV_8UC3, cv::Scalar::all(0));
  for (int i = 0; i < 1600; ++i)
    checkers.at<cv::Vec3b>(i / 40, i % 40) = cv::Vec3b::all(i % 40 % 4 == 0 ? 200 : 0);
  // Every fourth column is bright: an area of 4 x 4 sees a quarter of it, linear interpolation
  // between columns 1 and 2 sees none.
  EXPECT_EQ(resized(checkers, 10, false).at<cv::Vec3b>(5, 5)[0], 50);
  EXPECT_EQ(resized(checkers, 10, true).at<cv::Vec3b>(5, 5)[0], 0);
}

TEST_F(DatasetTest, CallsTheOnlyClassOfASingleClassDataSetItem) {
  config.train = {write_image(folder / "images/a.png")};
  write_file(folder / "labels/a.txt", "1 0.5 0.25 0.5 0.5\n");
  const Dataset dataset = load(config, Split::train, {.imgsz = 32, .single_cls = true});
  EXPECT_EQ(dataset.names, (std::vector<std::string>{"item"}));
  EXPECT_EQ(dataset.images[0].labels[0].cls, 0);
}

TEST_F(DatasetTest, RefusesImagesThatCheckFindsFaultWithOrLeavesThemOut) {
  config.train = {write_image(folder / "a.png"), write_file(folder / "b.png", "no image"),
                  write_file(folder / "c.png", "no image")};
  const std::string fault =
      ": is truncated, or no image of a kind that YOLOv5 reads; convert it to .jpg or .png, or "
      "remove it\n";
  for (const int threads : {1, 2}) {
    EXPECT_EQ(test::refusal([&] { load(config, Split::train, {.imgsz = 32, .threads = threads}); }),
              (folder / "b.png") + fault + (folder / "c.png") + fault +
                  "mend them, or go on without them: --skip-bad");
  }
  const Dataset rest = load(config, Split::train, {.imgsz = 32, .skip_bad = true});
  ASSERT_EQ(rest.images.size(), 1U);
  EXPECT_EQ(rest.images[0].file, config.train[0]);
}

TEST_F(DatasetTest, NamesAnImageThatIsDecodedInAnotherSizeThanItsHeaderSaysOrLeavesItOut) {
  const std::string file = write_image(folder / "images/a.jpg", 40, 20);
  // TIFF demands MM or II; OpenCV takes anything else for MM, and turns the image.
  turn_by_exif(file, "XX");
  config.train = {file, write_image(folder / "images/b.png")};
  EXPECT_EQ(test::refusal([&] { load(config, Split::train, {.imgsz = 32}); }),
            file +
                ": its header says 40 x 20 pixels, OpenCV decodes 20 x 40; save it again without "
                "its Exif part, or begin without it: --skip-bad");
  const auto undecoded = load(config, Split::train, {.imgsz = 32, .keep = Keep::none});
  EXPECT_THAT(test::refusal([&] { pixels_of(undecoded, 0); }),
              testing::HasSubstr("OpenCV decodes 20 x 40"));
  write_file(config.train[1], "no image");
  config.train.push_back(write_image(folder / "images/c.png"));
  const auto left = load(config, Split::train, {.imgsz = 32, .skip_bad = true});
  ASSERT_EQ(left.images.size(), 1U);
  EXPECT_EQ(left.images[0].file, config.train[2]);
}

TEST_F(DatasetTest, RefusesAnImageThatCannotBeDecodedThoughItsEndsAreThere) {
  const std::string file = write_image(folder / "a.png");
  std::string bytes = read_file(file);
  bytes[bytes.find("IDAT") + 6] ^= 0x55;
  write_file(file, bytes);
  config.train = {file};
  EXPECT_EQ(test::refusal([&] { load(config, Split::train, {.imgsz = 32}); }),
            file +
                ": cannot be decoded; convert it to .jpg or .png, or begin without it: "
                "--skip-bad");
  config.train.push_back(write_image(folder / "b.png"));
  const Dataset rest = load(config, Split::train, {.imgsz = 32, .skip_bad = true});
  ASSERT_EQ(rest.images.size(), 1U);
  EXPECT_EQ(rest.images[0].file, config.train[1]);
  config.train.push_back(folder / "c.png");
  write_file(folder / "c.png", bytes);
  const auto fault = [](const std::string& name) {
    return name +
           ": cannot be decoded; convert it to .jpg or .png, or begin without it: "
           "--skip-bad\n";
  };
  EXPECT_EQ(test::refusal([&] { load(config, Split::train, {.imgsz = 32}); }),
            fault(file) + fault(folder / "c.png") + "mend them, or go on without them: --skip-bad");
}

}  // namespace
}  // namespace evolve::data

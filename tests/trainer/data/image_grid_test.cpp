#include "trainer/data/image_grid.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <opencv2/imgcodecs.hpp>

#include "core/error.hpp"
#include "tests/trainer/data/files.hpp"

namespace evolve::data {
namespace {

/// `size` grey images of 64 x 32 pixels.
Batch grey(int size) {
  Batch batch{.size = size, .height = 32, .width = 64};
  batch.pixels.assign(static_cast<std::size_t>(size) * 3 * 32 * 64, 128);
  return batch;
}

TEST(ImageGrid, FindsTheLabelsInPixels) {
  Batch batch = grey(2);
  batch.targets = {{1, 2, .5F, .5F, .25F, .5F}};
  const auto boxes = labels_of(batch);
  ASSERT_EQ(boxes.size(), 2u);
  EXPECT_TRUE(boxes[0].empty());
  ASSERT_EQ(boxes[1].size(), 1u);
  EXPECT_EQ(boxes[1][0].cls, 2);
  EXPECT_FLOAT_EQ(boxes[1][0].x1, 24);
  EXPECT_FLOAT_EQ(boxes[1][0].y1, 8);
  EXPECT_FLOAT_EQ(boxes[1][0].x2, 40);
  EXPECT_FLOAT_EQ(boxes[1][0].y2, 24);
}

TEST(ImageGrid, DrawsEachClassInItsColourAndLeavesTheRestAlone) {
  const TemporaryFolder folder;
  const auto file = folder / "grid.png";
  draw_batch(grey(2), {{}, {{.cls = 0, .x1 = 16, .y1 = 8, .x2 = 48, .y2 = 24}}}, {"a"}, file);
  const cv::Mat grid = cv::imread(file);
  ASSERT_EQ(grid.size(),
            cv::Size(2 * 6 * 64, 6 * 32));  // two beside each other, six times as large
  EXPECT_EQ(grid.at<cv::Vec3b>(96, 192), cv::Vec3b(128, 128, 128));
  EXPECT_EQ(grid.at<cv::Vec3b>(96, 384 + 192), cv::Vec3b(128, 128, 128));
  EXPECT_EQ(grid.at<cv::Vec3b>(144, 384 + 192), cv::Vec3b(0, 94, 213));  // the box's lower edge
}

TEST(ImageGrid, NamesAClassByItsNumberWhereItsNameHasLettersThatCannotBeDrawn) {
  const TemporaryFolder folder;
  const auto drawn = [&](const std::vector<std::string>& names) {
    const auto file = folder / "grid.png";
    draw_batch(grey(1), {{{.cls = 1, .x1 = 16, .y1 = 8, .x2 = 48, .y2 = 24}}}, names, file);
    return read_file(file);
  };
  EXPECT_EQ(drawn({"cat", "Katze mit Mütze"}), drawn({"cat", "1"}));
  EXPECT_NE(drawn({"cat", "dog"}), drawn({"cat", "1"}));
}

TEST(ImageGrid, ShowsAtMost16ImagesOn1920Pixels) {
  const TemporaryFolder folder;
  Batch batch{.size = 17, .height = 640, .width = 640};
  batch.pixels.assign(std::size_t{17} * 3 * 640 * 640, 0);
  const auto file = folder / "grid.jpg";
  draw_batch(batch, labels_of(batch), {}, file);
  EXPECT_EQ(cv::imread(file).size(), cv::Size(1920, 1920));
}

TEST(ImageGrid, SaysThatItCannotBeWritten) {
  EXPECT_THROW(draw_batch(grey(1), {{}}, {}, "/dev/null/grid.png"), Error);
}

}  // namespace
}  // namespace evolve::data

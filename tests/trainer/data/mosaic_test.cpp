#include "trainer/data/mosaic.hpp"

#include <gtest/gtest.h>

namespace evolve::data {
namespace {

// The numbers are YOLOv5's for images of 64 x 48, 64 x 64, 43 x 64 and 64 x 31 around (95, 32) on
// 128 x 128.
TEST(Mosaic, CutsTilesAtTheCanvasAndAtTheCentre) {
  const std::array<cv::Size, 4> sizes = {cv::Size(64, 48), {64, 64}, {43, 64}, {64, 31}};
  const std::array<cv::Rect, 4> canvas = {
      cv::Rect(31, 0, 64, 32), {95, 0, 33, 32}, {52, 32, 43, 64}, {95, 32, 33, 31}};
  const std::array<cv::Point, 4> corner = {cv::Point(0, 16), {0, 32}, {0, 0}, {0, 0}};
  const std::array<cv::Point, 4> pad = {cv::Point(31, -16), {95, -32}, {52, 32}, {95, 32}};
  for (std::size_t i = 0; i < 4; ++i) {
    const Tile tile = place_tile(static_cast<int>(i), {95, 32}, sizes[i], 128);
    EXPECT_EQ(tile.canvas, canvas[i]);
    EXPECT_EQ(tile.image, cv::Rect(corner[i], canvas[i].size()));
    EXPECT_EQ(cv::Point(tile.pad_x, tile.pad_y), pad[i]);
  }
}

TEST(Mosaic, MovesAndClipsObjectsWithTheirImages) {
  Dataset dataset{.names = {}, .imgsz = 8, .images = {}};
  for (int i = 0; i < 4; ++i) {
    Image image;
    image.pixels = cv::Mat(8, 8, CV_8UC3, cv::Scalar::all(10 * i));
    image.labels = {{i, 0.5F, 0.5F, 0.5F, 1}};
    dataset.images.push_back(image);
  }
  dataset.images[3].segments = {{{0.25F, 0}, {0.75F, 0}, {0.5F, 1}}};
  cv::Mat canvas;
  const auto pieces = mosaic_pieces(dataset, {3, 2, 1, 0}, {6, 8});
  const Objects objects = mosaic_objects(dataset, pieces);
  paint(dataset, pieces, {16, 16}, canvas);
  ASSERT_EQ(canvas.size(), cv::Size(16, 16));
  EXPECT_EQ(canvas.at<cv::Vec3b>(0, 5)[0], 30);
  EXPECT_EQ(canvas.at<cv::Vec3b>(0, 6)[0], 20);
  EXPECT_EQ(canvas.at<cv::Vec3b>(8, 5)[0], 10);
  EXPECT_EQ(canvas.at<cv::Vec3b>(8, 6)[0], 0);
  EXPECT_EQ(canvas.at<cv::Vec3b>(8, 14)[0], 114);
  EXPECT_EQ(
      objects.boxes,
      (std::vector<Box>{{3, 0, 0, 4, 8}, {2, 8, 0, 12, 8}, {1, 0, 8, 4, 16}, {0, 8, 8, 12, 16}}));
  EXPECT_EQ(objects.outlines[0], (Segment{{0, 0}, {4, 0}, {2, 8}}));
  EXPECT_TRUE(objects.outlines[1].empty());
}

}  // namespace
}  // namespace evolve::data

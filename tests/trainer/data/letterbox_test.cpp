#include "trainer/data/letterbox.hpp"

#include <gtest/gtest.h>

namespace evolve::data {
namespace {

const cv::Mat dark(4, 8, CV_8UC3, cv::Scalar(1, 2, 3));

TEST(Letterbox, CentresAImageOnGrey) {
  cv::Mat out;
  const Letterbox box = letterbox(dark, {8, 8}, true, out);
  EXPECT_EQ(box.ratio, 1);
  EXPECT_EQ(box.pad_x, 0);
  EXPECT_EQ(box.pad_y, 2);
  ASSERT_EQ(out.size(), cv::Size(8, 8));
  for (const int y : {0, 1, 6, 7}) EXPECT_EQ(out.at<cv::Vec3b>(y, 4), cv::Vec3b(114, 114, 114));
  for (const int y : {2, 3, 4, 5}) EXPECT_EQ(out.at<cv::Vec3b>(y, 4), cv::Vec3b(1, 2, 3));
}

TEST(Letterbox, PutsTheOddPixelBelow) {
  cv::Mat out;
  const Letterbox box = letterbox(dark, {8, 7}, true, out);
  EXPECT_EQ(box.pad_y, 1.5);
  EXPECT_EQ(out.at<cv::Vec3b>(0, 0)[0], 114);
  EXPECT_EQ(out.at<cv::Vec3b>(1, 0)[0], 1);
  EXPECT_EQ(out.at<cv::Vec3b>(4, 0)[0], 1);
  EXPECT_EQ(out.at<cv::Vec3b>(5, 0)[0], 114);
}

TEST(Letterbox, EnlargesOnlyWhenAsked) {
  cv::Mat out;
  EXPECT_EQ(letterbox(dark, {16, 16}, true, out).ratio, 2);
  EXPECT_EQ(out.at<cv::Vec3b>(4, 0)[0], 1);
  const Letterbox box = letterbox(dark, {16, 16}, false, out);
  EXPECT_EQ(box.ratio, 1);
  EXPECT_EQ(box.pad_x, 4);
  EXPECT_EQ(box.pad_y, 6);
}

TEST(Letterbox, ShrinksAImageThatIsTooLarge) {
  cv::Mat out;
  const Letterbox box = letterbox(dark, {4, 4}, false, out);
  EXPECT_EQ(box.ratio, 0.5);
  EXPECT_EQ(box.pad_y, 1);
  EXPECT_EQ(out.size(), cv::Size(4, 4));
}

}  // namespace
}  // namespace evolve::data

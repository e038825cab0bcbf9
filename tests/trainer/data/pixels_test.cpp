#include "trainer/data/pixels.hpp"

#include <gtest/gtest.h>

namespace evolve::data {
namespace {

TEST(Hsv, TablesWrapHueAndClipTheOthers) {
  const cv::Mat tables = hsv_tables({1.5, 2, 0.5});
  EXPECT_EQ(tables.at<cv::Vec3b>(10), cv::Vec3b(15, 20, 5));
  EXPECT_EQ(tables.at<cv::Vec3b>(130), cv::Vec3b(15, 255, 65));  // 195 - 180
  EXPECT_EQ(tables.at<cv::Vec3b>(255), cv::Vec3b(22, 255, 127));
}

// What YOLOv5 drew for gains 0.015, 0.7 and 0.4, and rows of its tables.
TEST(Hsv, TablesAreThoseOfYolov5) {
  const cv::Mat tables = hsv_tables({0.9912514381633315, 0.4270388013870424, 0.7629303647994328});
  EXPECT_EQ(tables.at<cv::Vec3b>(1), cv::Vec3b(0, 0, 0));
  EXPECT_EQ(tables.at<cv::Vec3b>(33), cv::Vec3b(32, 14, 25));
  EXPECT_EQ(tables.at<cv::Vec3b>(58), cv::Vec3b(57, 24, 44));
}

TEST(Hsv, ScalesBrightness) {
  cv::Mat image(1, 1, CV_8UC3, cv::Scalar(200, 100, 50)), scratch;
  scale_hsv(image, {1, 1, 0.5}, scratch);
  EXPECT_EQ(image.at<cv::Vec3b>(0), cv::Vec3b(100, 50, 25));
}

TEST(Blend, RoundsDown) {
  cv::Mat image(1, 1, CV_8UC3, cv::Scalar(10, 20, 200));
  blend(image, cv::Mat(1, 1, CV_8UC3, cv::Scalar(11, 40, 100)), 0.5);
  EXPECT_EQ(image.at<cv::Vec3b>(0), cv::Vec3b(10, 30, 150));
}

TEST(Planes, AreRedGreenBlueRowByRow) {
  cv::Mat image(1, 2, CV_8UC3);
  image.at<cv::Vec3b>(0) = {1, 2, 3};
  image.at<cv::Vec3b>(1) = {4, 5, 6};
  std::vector<std::uint8_t> planes(6);
  write_planes(image, planes.data());
  EXPECT_EQ(planes, (std::vector<std::uint8_t>{3, 6, 2, 5, 1, 4}));
}

}  // namespace
}  // namespace evolve::data

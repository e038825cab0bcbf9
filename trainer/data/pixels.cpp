#include "trainer/data/pixels.hpp"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

namespace evolve::data {

cv::Mat hsv_tables(const std::array<double, 3>& factors) {
  cv::Mat tables(1, 256, CV_8UC3);
  for (int i = 0; i < 256; ++i) {
    const double hue = i * factors[0];
    tables.at<cv::Vec3b>(i) = {
        static_cast<std::uint8_t>(hue - 180 * std::floor(hue / 180)),
        static_cast<std::uint8_t>(std::clamp(i * factors[1], 0.0, 255.0)),
        static_cast<std::uint8_t>(std::clamp(i * factors[2], 0.0, 255.0)),
    };
  }
  return tables;
}

void scale_hsv(cv::Mat& bgr, const std::array<double, 3>& factors, cv::Mat& scratch) {
  cv::cvtColor(bgr, scratch, cv::COLOR_BGR2HSV);
  cv::LUT(scratch, hsv_tables(factors), scratch);
  cv::cvtColor(scratch, bgr, cv::COLOR_HSV2BGR);
}

void blend(cv::Mat& image, const cv::Mat& other, double ratio) {
  for (int y = 0; y < image.rows; ++y) {
    auto* to = image.ptr<std::uint8_t>(y);
    const auto* from = other.ptr<std::uint8_t>(y);
    for (int i = 0; i < image.cols * 3; ++i) {
      to[i] = static_cast<std::uint8_t>(to[i] * ratio + from[i] * (1 - ratio));
    }
  }
}

void write_planes(const cv::Mat& bgr, std::uint8_t* planes) {
  const std::size_t area = bgr.total();
  cv::Mat channels[] = {cv::Mat(bgr.size(), CV_8U, planes + 2 * area),
                        cv::Mat(bgr.size(), CV_8U, planes + area),
                        cv::Mat(bgr.size(), CV_8U, planes)};
  cv::split(bgr, channels);
}

}  // namespace evolve::data

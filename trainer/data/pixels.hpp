// What augmentation does to pixels alone: colours, blending, and the layout that a network takes.
#pragma once

#include <array>
#include <cstdint>
#include <opencv2/core/mat.hpp>

namespace evolve::data {

/// Scales hue, saturation and value of a BGR image by three factors, through tables on OpenCV's
/// 8-bit HSV (hue 0..179), as YOLOv5's augment_hsv does. `scratch` spares an allocation.
void scale_hsv(cv::Mat& bgr, const std::array<double, 3>& factors, cv::Mat& scratch);

/// The tables of `scale_hsv`: one row of 256 pixels with the new hue, saturation and value of each
/// old one.
cv::Mat hsv_tables(const std::array<double, 3>& factors);

/// image = image * ratio + other * (1 - ratio), rounded down. Both of the same size.
void blend(cv::Mat& image, const cv::Mat& other, double ratio);

/// Writes a BGR image as [3, height, width], RGB, to `planes`.
void write_planes(const cv::Mat& bgr, std::uint8_t* planes);

}  // namespace evolve::data

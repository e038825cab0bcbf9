#include "trainer/data/perspective.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <opencv2/imgproc.hpp>

#include "trainer/data/letterbox.hpp"

namespace evolve::data {
namespace {

double tangent_of_degrees(double degrees) {
  return std::tan(degrees * std::numbers::pi / 180);
}

cv::Point2d mapped(const Warp& warp, double x, double y) {
  const cv::Matx33d& m = warp.matrix;
  const double w = warp.projective ? m(2, 0) * x + m(2, 1) * y + m(2, 2) : 1;
  return {(m(0, 0) * x + m(0, 1) * y + m(0, 2)) / w, (m(1, 0) * x + m(1, 1) * y + m(1, 2)) / w};
}

/// Around the mapped corners, clipped to the result.
cv::Vec4d mapped_box(const Warp& warp, const Box& box) {
  const std::array<cv::Point2d, 4> corners = {
      mapped(warp, box.x1, box.y1), mapped(warp, box.x2, box.y2), mapped(warp, box.x1, box.y2),
      mapped(warp, box.x2, box.y1)};
  const auto [left, right] = std::minmax({corners[0].x, corners[1].x, corners[2].x, corners[3].x});
  const auto [top, bottom] = std::minmax({corners[0].y, corners[1].y, corners[2].y, corners[3].y});
  const double width = warp.result.width, height = warp.result.height;
  return {std::clamp(left, 0.0, width), std::clamp(top, 0.0, height), std::clamp(right, 0.0, width),
          std::clamp(bottom, 0.0, height)};
}

/// Around those of 1000 points, evenly spread over the closed outline's edges (by number, not by
/// length), that lie inside the result; empty when none does.
cv::Vec4d mapped_box(const Warp& warp, const Segment& outline) {
  constexpr int samples = 1000;
  const double width = warp.result.width, height = warp.result.height;
  const double step = static_cast<double>(outline.size()) / (samples - 1);
  cv::Vec4d box(width, height, 0, 0);
  bool inside = false;
  for (int i = 0; i < samples; ++i) {
    const double place = i * step;
    const std::size_t edge = std::min(static_cast<std::size_t>(place), outline.size() - 1);
    const cv::Point2d from = outline[edge], to = outline[(edge + 1) % outline.size()];
    const cv::Point2d along = from + (to - from) * (place - static_cast<double>(edge));
    const cv::Point2d point = mapped(warp, along.x, along.y);
    if (!(point.x >= 0 && point.y >= 0 && point.x <= width && point.y <= height)) continue;
    inside = true;
    box = {std::min(box[0], point.x), std::min(box[1], point.y), std::max(box[2], point.x),
           std::max(box[3], point.y)};
  }
  return inside ? box : cv::Vec4d();
}

}  // namespace

Warp draw_warp(const Augmentation& augmentation, cv::Size image, cv::Size result,
               RandomSource& rng) {
  cv::Matx33d centre = cv::Matx33d::eye();
  centre(0, 2) = -image.width / 2.0;
  centre(1, 2) = -image.height / 2.0;

  cv::Matx33d perspective = cv::Matx33d::eye();
  perspective(2, 0) = rng.uniform(-augmentation.perspective, augmentation.perspective);
  perspective(2, 1) = rng.uniform(-augmentation.perspective, augmentation.perspective);

  const double angle = rng.uniform(-augmentation.degrees, augmentation.degrees);
  const double scale = rng.uniform(1 - augmentation.scale, 1 + augmentation.scale);
  const cv::Matx23d turn = cv::getRotationMatrix2D_({0, 0}, angle, scale);
  const cv::Matx33d rotation(turn(0, 0), turn(0, 1), turn(0, 2), turn(1, 0), turn(1, 1), turn(1, 2),
                             0, 0, 1);

  cv::Matx33d shear = cv::Matx33d::eye();
  shear(0, 1) = tangent_of_degrees(rng.uniform(-augmentation.shear, augmentation.shear));
  shear(1, 0) = tangent_of_degrees(rng.uniform(-augmentation.shear, augmentation.shear));

  cv::Matx33d translation = cv::Matx33d::eye();
  const double low = 0.5 - augmentation.translate, high = 0.5 + augmentation.translate;
  translation(0, 2) = rng.uniform(low, high) * result.width;
  translation(1, 2) = rng.uniform(low, high) * result.height;

  return {translation * shear * rotation * perspective * centre, scale,
          augmentation.perspective != 0, result};
}

void warp(const cv::Mat& in, const Warp& warp, cv::Mat& out) {
  if (warp.matrix == cv::Matx33d::eye() && warp.result == in.size()) {
    in.copyTo(out);
  } else if (warp.projective) {
    cv::warpPerspective(in, out, warp.matrix, warp.result, cv::INTER_LINEAR, cv::BORDER_CONSTANT,
                        padding_grey);
  } else {
    cv::warpAffine(in, out, warp.matrix.get_minor<2, 3>(0, 0), warp.result, cv::INTER_LINEAR,
                   cv::BORDER_CONSTANT, padding_grey);
  }
}

std::vector<Box> warp(const Objects& objects, const Warp& warp) {
  const bool outlined = std::none_of(objects.outlines.begin(), objects.outlines.end(),
                                     [](const Segment& outline) { return outline.empty(); });
  const auto scale = static_cast<float>(warp.scale);
  std::vector<Box> kept;
  for (std::size_t i = 0; i < objects.boxes.size(); ++i) {
    const Box& box = objects.boxes[i];
    const cv::Vec4d after =
        outlined ? mapped_box(warp, objects.outlines[i]) : mapped_box(warp, box);
    const cv::Vec4d before(box.x1 * scale, box.y1 * scale, box.x2 * scale, box.y2 * scale);
    if (is_candidate(before, after, outlined ? 0.01 : 0.1)) {
      kept.push_back({box.cls, static_cast<float>(after[0]), static_cast<float>(after[1]),
                      static_cast<float>(after[2]), static_cast<float>(after[3])});
    }
  }
  return kept;
}

bool is_candidate(const cv::Vec4d& before, const cv::Vec4d& after, double area_threshold) {
  constexpr double tiny = 1e-16;
  const double old_area = (before[2] - before[0]) * (before[3] - before[1]);
  const double width = after[2] - after[0], height = after[3] - after[1];
  const double aspect = std::max(width / (height + tiny), height / (width + tiny));
  return width > 2 && height > 2 && width * height / (old_area + tiny) > area_threshold &&
         aspect < 100;
}

}  // namespace evolve::data

#include "trainer/data/copy_paste.hpp"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

namespace evolve::data {
namespace {

/// Which part of `hidden` lies under `cover`.
double covered(const Box& cover, const Box& hidden) {
  const float width = std::max(0.0F, std::min(cover.x2, hidden.x2) - std::max(cover.x1, hidden.x1));
  const float height =
      std::max(0.0F, std::min(cover.y2, hidden.y2) - std::max(cover.y1, hidden.y1));
  return width * height / ((hidden.x2 - hidden.x1) * (hidden.y2 - hidden.y1) + 1e-7F);
}

Segment mirrored(const Segment& outline, float width) {
  Segment result = outline;
  for (cv::Point2f& point : result) point.x = width - point.x;
  return result;
}

void fill(cv::Mat& mask, const Segment& outline) {
  std::vector<cv::Point> points;
  for (const cv::Point2f& point : outline) {
    points.emplace_back(static_cast<int>(point.x), static_cast<int>(point.y));
  }
  cv::drawContours(mask, std::vector<std::vector<cv::Point>>{points}, -1, cv::Scalar(1),
                   cv::FILLED);
}

}  // namespace

std::vector<Segment> draw_copies(Objects& objects, int width, double share, RandomSource& rng) {
  std::vector<std::size_t> outlined;
  for (std::size_t i = 0; i < objects.outlines.size(); ++i) {
    if (!objects.outlines[i].empty()) outlined.push_back(i);
  }
  std::vector<Segment> copied;
  if (share == 0 || outlined.empty()) return copied;

  const int population = static_cast<int>(outlined.size());
  const auto across = static_cast<float>(width);
  for (const int place :
       rng.sample(population, static_cast<int>(std::nearbyint(share * population)))) {
    const std::size_t i = outlined[static_cast<std::size_t>(place)];
    const Box& box = objects.boxes[i];
    const Box copy{box.cls, across - box.x2, box.y1, across - box.x1, box.y2};
    const bool fits = std::all_of(objects.boxes.begin(), objects.boxes.end(),
                                  [&](const Box& other) { return covered(copy, other) < 0.3; });
    if (!fits) continue;
    copied.push_back(objects.outlines[i]);
    objects.boxes.push_back(copy);
    objects.outlines.push_back(mirrored(objects.outlines[i], across));
  }
  return copied;
}

cv::Mat mirror_mask(const std::vector<Segment>& outlines, cv::Size image) {
  cv::Mat mask = cv::Mat::zeros(image, CV_8U);
  for (const Segment& outline : outlines) fill(mask, outline);
  cv::flip(mask, mask, 1);
  return mask;
}

void paste(cv::Mat& image, const std::vector<Segment>& outlines) {
  if (outlines.empty()) return;
  cv::Mat flipped;
  cv::flip(image, flipped, 1);
  flipped.copyTo(image, mirror_mask(outlines, image.size()));
}

}  // namespace evolve::data

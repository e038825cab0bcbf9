#include "trainer/data/boxes.hpp"

#include <algorithm>

namespace evolve::data {

Box to_pixels(const Label& label, float width, float height, float pad_x, float pad_y) {
  return {label.cls, width * (label.x - label.w / 2) + pad_x,
          height * (label.y - label.h / 2) + pad_y, width * (label.x + label.w / 2) + pad_x,
          height * (label.y + label.h / 2) + pad_y};
}

Segment to_pixels(const Segment& segment, float width, float height, float pad_x, float pad_y) {
  Segment pixels;
  pixels.reserve(segment.size());
  for (const cv::Point2f& point : segment) {
    pixels.emplace_back(width * point.x + pad_x, height * point.y + pad_y);
  }
  return pixels;
}

Label to_label(const Box& box, int width, int height) {
  const auto w = static_cast<float>(width), h = static_cast<float>(height);
  const auto last_x = static_cast<float>(width - 1e-3), last_y = static_cast<float>(height - 1e-3);
  const float x1 = std::clamp(box.x1, 0.0F, last_x), x2 = std::clamp(box.x2, 0.0F, last_x);
  const float y1 = std::clamp(box.y1, 0.0F, last_y), y2 = std::clamp(box.y2, 0.0F, last_y);
  return {box.cls, (x1 + x2) / 2 / w, (y1 + y2) / 2 / h, (x2 - x1) / w, (y2 - y1) / h};
}

}  // namespace evolve::data

// Labelled objects in pixels, as augmentation moves them.
#pragma once

#include <vector>

#include "trainer/data/label_file.hpp"

namespace evolve::data {

/// One object: class and corners in pixels.
struct Box {
  int cls = 0;
  float x1 = 0, y1 = 0, x2 = 0, y2 = 0;
  bool operator==(const Box&) const = default;
};

/// The objects of an image.
struct Objects {
  std::vector<Box> boxes;
  /// As many as boxes, in pixels; an object without an outline has an empty one.
  std::vector<Segment> outlines;
};

/// A label on an image of `width` x `height` pixels that lies at (pad_x, pad_y).
Box to_pixels(const Label& label, float width, float height, float pad_x, float pad_y);
Segment to_pixels(const Segment& segment, float width, float height, float pad_x, float pad_y);

/// The inverse on an image of `width` x `height` pixels; corners are clipped to 0.001 pixel inside
/// the far edges, as YOLOv5's xyxy2xywhn does.
Label to_label(const Box& box, int width, int height);

}  // namespace evolve::data

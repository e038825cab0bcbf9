// Boxes: what a detector says and what a label says.
#pragma once

namespace evolve::trainer {

/// A rectangle in pixels: left, top, right, bottom.
struct Box {
  float x1 = 0, y1 = 0, x2 = 0, y2 = 0;
  bool operator==(const Box&) const = default;
};

/// A found object: confidence is objectness times class probability, 0..1.
struct Detection {
  Box box;
  float conf = 0;
  int cls = 0;
  bool operator==(const Detection&) const = default;
};

/// An object that is there.
struct GroundTruth {
  Box box;
  int cls = 0;
  bool operator==(const GroundTruth&) const = default;
};

}  // namespace evolve::trainer

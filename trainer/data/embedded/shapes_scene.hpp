// How one image of an embedded data set is drawn.
#pragma once

#include <array>
#include <cstdint>
#include <opencv2/core/mat.hpp>
#include <random>
#include <vector>

#include "trainer/data/label_file.hpp"

namespace evolve::data {

/// Random numbers that are the same with every standard library: the engine is specified to the
/// bit, and the distributions are these.
class SceneRandom {
 public:
  explicit SceneRandom(std::uint64_t seed) : engine_(seed) {}

  double between(double low, double high) { return low + (high - low) * unit(); }
  int below(int bound) { return static_cast<int>(unit() * bound); }
  bool chance(double probability) { return unit() < probability; }

  /// Four coarse numbers in [-1, 1) from one draw of the engine, for noise.
  std::array<double, 4> four() {
    const std::uint64_t bits = engine_();
    std::array<double, 4> values;
    for (std::size_t i = 0; i < 4; ++i)
      values[i] = static_cast<double>(bits >> (16 * i) & 0xffff) * 0x1p-15 - 1;
    return values;
  }

 private:
  double unit() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }

  std::mt19937_64 engine_;
};

enum class Shape {
  circle,
  square,
  triangle,
  star,
  cross,
  ring,
  pentagon,
  crescent,
  bar,
  half_disc,
  corner
};

/// Contours about (0, 0) that reach at most distance 1 from it, a little different each time; a
/// second contour is a hole. Not turned.
std::vector<std::vector<cv::Point2d>> outline_of(Shape shape, SceneRandom& random);

struct Scene {
  /// BGR, 128 x 128.
  cv::Mat pixels;
  /// A label's class is the place of its shape in `classes`.
  std::vector<Label> labels;
};

/// Draws clutter and 1 to 8 objects of the classes. At least 45 % of each object stays visible.
Scene draw_scene(const std::vector<Shape>& classes, SceneRandom& random);

}  // namespace evolve::data

// The random perspective: turn, scale, shear, shift and tilt an image with its objects.
#pragma once

#include <opencv2/core/mat.hpp>
#include <opencv2/core/matx.hpp>

#include "trainer/data/augmentation.hpp"
#include "trainer/data/boxes.hpp"
#include "trainer/data/random_source.hpp"

namespace evolve::data {

/// A mapping of the plane, in homogeneous coordinates from image to result.
struct Warp {
  cv::Matx33d matrix = cv::Matx33d::eye();
  /// The scale that was drawn.
  double scale = 1;
  /// Whether lines may converge; without it the last row is (0, 0, 1).
  bool projective = false;
  /// Size of the result in pixels.
  cv::Size result;
};

/// Draws perspective (2), angle, scale, shear (2) and translation (2), in this order, and puts them
/// together as YOLOv5's random_perspective does: T * S * R * P * C about the centres of image and
/// result.
Warp draw_warp(const Augmentation& augmentation, cv::Size image, cv::Size result,
               RandomSource& rng);

/// Warps with linear interpolation on grey; a mapping that changes nothing gives `in` itself.
void warp(const cv::Mat& in, const Warp& warp, cv::Mat& out);

/// Moves the objects and drops those of which too little is left: a side of 2 pixels or less, an
/// aspect ratio of 100 or more, or an area that shrank below a tenth of the scaled one. Where every
/// object has an outline, boxes come from 1000 points along it that stay inside, and a hundredth of
/// the area is enough.
std::vector<Box> warp(const Objects& objects, const Warp& warp);

/// Whether the box `after` is still worth learning, given the scaled box `before`: YOLOv5's
/// box_candidates.
bool is_candidate(const cv::Vec4d& before, const cv::Vec4d& after, double area_threshold);

}  // namespace evolve::data

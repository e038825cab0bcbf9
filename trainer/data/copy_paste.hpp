// Copy-paste: objects with outlines appear a second time, mirrored (arXiv:2012.07177).
#pragma once

#include <opencv2/core/mat.hpp>

#include "trainer/data/boxes.hpp"
#include "trainer/data/random_source.hpp"

namespace evolve::data {

/// Mirrors a random share (0..1) of the objects that have an outline, pixels and box, to the other
/// side of the image, each unless it would hide 30 % or more of another object. Does nothing
/// without outlines.
void copy_paste(cv::Mat& image, Objects& objects, double share, RandomSource& rng);

}  // namespace evolve::data

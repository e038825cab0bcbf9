// Copy-paste: objects with outlines appear a second time, mirrored (arXiv:2012.07177).
#pragma once

#include <opencv2/core/mat.hpp>
#include <vector>

#include "trainer/data/boxes.hpp"
#include "trainer/data/random_source.hpp"

namespace evolve::data {

/// Mirrors a random share (0..1) of the objects that have an outline to the other side of an image
/// of that width, each unless it would hide 30 % or more of another object. The copies join the
/// objects; the outlines that were copied are returned: see paste(). None without outlines.
std::vector<Segment> draw_copies(Objects& objects, int width, double share, RandomSource& rng);

/// Where an image of that size shows its own mirror image once `outlines` have been copied: 1, else
/// 0.
cv::Mat mirror_mask(const std::vector<Segment>& outlines, cv::Size image);

/// The pixels of these outlines appear a second time, mirrored.
void paste(cv::Mat& image, const std::vector<Segment>& outlines);

}  // namespace evolve::data

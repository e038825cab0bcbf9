// Augmentation: the pixels of a training sample, made with OpenCV.
#pragma once

#include <opencv2/core/mat.hpp>
#include <vector>

#include "trainer/data/dataset.hpp"
#include "trainer/data/recipe.hpp"

namespace evolve::data {

/// A training image (BGR) with its labels, normalised to it. The canvases are kept between
/// samples, so that making one allocates nothing.
struct Sample {
  cv::Mat pixels;
  std::vector<Label> labels;
  cv::Mat canvas, other, scratch;
};

/// Makes the sample that a recipe describes.
void render(const Dataset& dataset, const Recipe& recipe, Sample& sample);

}  // namespace evolve::data

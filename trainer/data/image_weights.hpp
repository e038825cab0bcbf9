// --image-weights: images of classes that do badly are drawn more often.
#pragma once

#include <span>
#include <vector>

#include "trainer/data/dataset.hpp"

namespace evolve::data {

/// One weight per image: the sum over its labels of w_c (1 - ap_c)², where w_c is one over the
/// number of labels of class c, scaled to a mean of 1. An image without labels gets 0. `ap`:
/// AP50-95 of each class in the last validation, 0 before the first. Matches YOLOv5's
/// labels_to_class_weights() and labels_to_image_weights() as train.py combines them.
std::vector<double> image_weights(const Dataset& dataset, std::span<const double> ap);

}  // namespace evolve::data

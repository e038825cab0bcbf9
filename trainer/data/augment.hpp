// Augmentation: what a training sample goes through.
#pragma once

#include "hyp/hyperparameters.hpp"
#include "trainer/data/dataset.hpp"

namespace evolve::data {

/// The augmentation hyperparameters, under YOLOv5's names.
struct Augmentation {
  double hsv_h = 0, hsv_s = 0, hsv_v = 0;
  double degrees = 0, translate = 0, scale = 0, shear = 0, perspective = 0;
  double flipud = 0, fliplr = 0;
  double mosaic = 0, mixup = 0, copy_paste = 0;
};

Augmentation augmentation_of(const hyp::Hyperparameters& hyp);

}  // namespace evolve::data

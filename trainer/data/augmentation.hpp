// The augmentation hyperparameters.
#pragma once

#include "hyp/hyperparameters.hpp"

namespace evolve::data {

/// Under YOLOv5's names and in its units: fractions, degrees, probabilities.
struct Augmentation {
  double hsv_h = 0, hsv_s = 0, hsv_v = 0;
  double degrees = 0, translate = 0, scale = 0, shear = 0, perspective = 0;
  double flipud = 0, fliplr = 0;
  double mosaic = 0, mixup = 0, copy_paste = 0;

  bool changes_colours() const { return hsv_h != 0 || hsv_s != 0 || hsv_v != 0; }
};

/// Throws `Error` when one of the 13 is absent or no number.
Augmentation augmentation_of(const hyp::Hyperparameters& hyp);

}  // namespace evolve::data

// A pass forward and backward on a device against YOLOv5's numbers: for the simulated card, and, in
// a program that has no such card, for a real one.
#pragma once

#include <torch/types.h>

#include "tests/trainer/golden.hpp"

namespace evolve::test {

/// Expects a case's loss and gradients, computed on `device`, to be as far from YOLOv5's as
/// rounding takes YOLOv5's own operators: a card sums in another order. In TF32 or 16 bits they
/// would be ten thousand times as far off.
void expect_loss_and_gradients_of_yolov5(const Golden& golden, const torch::Device& device);

}  // namespace evolve::test

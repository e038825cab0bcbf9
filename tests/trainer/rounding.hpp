// How far rounding takes a model from its exact numbers, so that two ways to compute it can be
// compared where the model itself amplifies rounding: batch norm over a few pixels does.
#pragma once

#include <torch/types.h>

#include <functional>
#include <vector>

#include "trainer/model/detector.hpp"

namespace evolve::test {

/// A model, images and what is computed of them.
struct Computation {
  std::function<trainer::Detector()> model;
  torch::Tensor images;
  /// Some tensors: maps, gradients …
  std::function<std::vector<torch::Tensor>(trainer::Detector&, const torch::Tensor& images)> of;
};

/// Per tensor the relative_error() of single precision with these operators against double
/// precision.
std::vector<double> rounding_errors(const Computation& computation, trainer::Operators operators);

/// Per tensor the greatest error of torch's operators on the model itself and on eight others that
/// differ from it by one part in a million: near enough to amplify rounding alike, far enough to
/// round anew. One error alone says little, as it may be small by luck: of two implementations
/// either is five times as far off as the other in one case of twenty.
std::vector<double> rounding_scale(const Computation& computation);

}  // namespace evolve::test

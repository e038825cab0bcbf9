// The checkpoint that the program carries along.
#pragma once

#include <string_view>

namespace evolve::trainer {

/// The weights called "shapes-base": yolov5p pre-trained on the embedded data set of that name, a
/// .pt state dict in half precision. scripts/make-shapes-base made it.
std::string_view shapes_base_weights();

}  // namespace evolve::trainer

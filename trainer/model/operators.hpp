// Whose operators a model and its loss are computed with. Torch-free.
#pragma once

namespace evolve::trainer {

enum class Operators {
  /// Where it is faster an operator of our own: see conv_bn_silu(), convolve() and level_loss().
  fast,
  /// Torch's, one after the other, as YOLOv5 calls them: on the CPU, in one thread and in torch's
  /// default memory layout they give YOLOv5's numbers to the last bit.
  plain,
};

}  // namespace evolve::trainer

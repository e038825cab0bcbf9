// The loss of one level's map and its gradient in one pass, on the CPU. Torch-free.
//
// It is the formula of `Loss` (loss.hpp). As torch's operators that is some two hundred calls there
// and back, and for a small detector the calls take longer than the numbers.
#pragma once

#include <array>
#include <cstdint>

#include "trainer/loss/loss_options.hpp"

namespace evolve::trainer {

/// A level's map as [count, outputs] numbers, outputs being 5 + nc.
struct LevelRows {
  const float* numbers = nullptr;
  std::int64_t count = 0, outputs = 0;
};

/// The matches of a level: see Matches, whose fields these are.
struct LevelMatches {
  std::int64_t count = 0;
  /// [count]
  const std::int64_t* rows = nullptr;
  const std::int64_t* classes = nullptr;
  /// [count, 4] and [count, 2]
  const float* boxes = nullptr;
  const float* anchor_sizes = nullptr;
};

/// Box, obj, cls with their gains; obj_gain stands for `options.obj`. To `gradient`, [rows,
/// outputs] zeros, it writes that of their sum; null where none is wanted.
std::array<double, 3> level_loss(const LevelRows& rows, const LevelMatches& matches,
                                 const LossOptions& options, double obj_gain, float* gradient);

}  // namespace evolve::trainer

// Pictures and labels as the trainer takes them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "trainer/data/augment.hpp"
#include "trainer/data/dataset.hpp"

namespace evolve::data {

/// How a validation picture was letterboxed: what maps boxes back to the original picture.
struct LetterboxShape {
  int original_height = 0, original_width = 0;
  /// Scale (height, width) and padding (left, top) in pixels of the letterboxed picture.
  float ratio_h = 1, ratio_w = 1;
  float pad_x = 0, pad_y = 0;
};

struct Batch {
  int size = 0, height = 0, width = 0;
  /// [size, 3, height, width], RGB, 0..255.
  std::vector<std::uint8_t> pixels;
  /// [n][picture in batch, class, x, y, w, h], normalised to the batch's picture size.
  std::vector<std::array<float, 6>> targets;
  /// One per picture; only filled for validation.
  std::vector<LetterboxShape> shapes;
};

/// The order in which an epoch visits the pictures: a permutation that depends on (seed, epoch) only.
std::vector<int> epoch_order(int pictures, std::uint64_t seed, int epoch);

/// Augmented training pictures. Each sample's draws depend on (seed, epoch, its place in `indices` of the
/// epoch) only, so the batch is the same whatever the number of threads.
Batch train_batch(const Dataset& dataset, const std::vector<int>& indices, int first_place,
                  const Augmentation& augmentation, std::uint64_t seed, int epoch, int threads);

/// Letterboxed validation batches in YOLOv5's order and shapes: `rect` sorts by aspect ratio and pads each
/// batch to its own multiple of `stride` with 0.5 stride to spare; square pads to imgsz.
std::vector<Batch> validation_batches(const Dataset& dataset, int batch_size, int stride, bool rect);

}  // namespace evolve::data

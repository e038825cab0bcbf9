// Images and labels as the trainer takes them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "trainer/data/augment.hpp"
#include "trainer/data/dataset.hpp"

namespace evolve::data {

/// How a validation image was letterboxed: original = (letterboxed - pad) / ratio.
struct LetterboxShape {
  int original_height = 0, original_width = 0;
  /// Height in the data set over original height; YOLOv5 takes it for both axes.
  double ratio = 1;
  /// Padding on the left and on top, in pixels of the letterboxed image.
  double pad_x = 0, pad_y = 0;
};

struct Batch {
  int size = 0, height = 0, width = 0;
  /// [size, 3, height, width], RGB, 0..255.
  std::vector<std::uint8_t> pixels;
  /// [n][image in batch, class, x, y, w, h], normalised to the batch's image size.
  std::vector<std::array<float, 6>> targets;
  /// One per image; only filled for validation.
  std::vector<LetterboxShape> shapes;
  /// Places in the data set, one per image.
  std::vector<int> images;
};

/// Which images form a batch, and its size in pixels.
struct BatchPlan {
  std::vector<int> images;
  int height = 0, width = 0;
  /// The place of the first of them among all images of the epoch.
  int first = 0;
};

/// Batches of images in the given order, all imgsz x imgsz; the last one may be smaller.
std::vector<BatchPlan> square_batches(const Dataset& dataset, const std::vector<int>& order,
                                      int batch_size);

/// Batches of images sorted by aspect ratio (height / width; equal ones in NumPy's order), each
/// as narrow as its images allow: the longer side imgsz, both sides ceil(side / stride + pad)
/// strides. YOLOv5's rect: pad 0.5 in validation, 0 in training.
std::vector<BatchPlan> rect_batches(const Dataset& dataset, int batch_size, int stride, double pad);

/// One epoch of augmented training.
struct EpochPlan {
  std::uint64_t seed = 0;
  int epoch = 0;
  Composition composition;
  std::vector<BatchPlan> batches;
};

/// A random order of 0..images - 1 that depends on (seed, epoch) only.
std::vector<int> epoch_order(int images, std::uint64_t seed, int epoch);

/// As many images as there are weights, drawn with replacement in proportion to them:
/// --image-weights.
std::vector<int> weighted_order(const std::vector<double>& weights, std::uint64_t seed, int epoch);

/// The plan of an epoch that visits `order` (of `epoch_order` or `weighted_order`) in squares of
/// imgsz. Mosaics take their other images from the same ones.
EpochPlan plan_epoch(const Dataset& dataset, std::vector<int> order, int batch_size,
                     std::uint64_t seed, int epoch);

/// The plan of an epoch of rectangular training: no mosaic, no shuffling.
EpochPlan plan_rect_epoch(const Dataset& dataset, int batch_size, int stride, std::uint64_t seed,
                          int epoch);

/// What process `rank` of `count` trains of a batch: neighbours in it, as many as the others train
/// or one more, which the first ones do.
BatchPlan share_of(const BatchPlan& batch, int rank, int count);

/// The recipes of batch `index` of the plan. Each sample's draws depend on (seed, epoch, its place
/// in the epoch) only, so that any thread may make any batch.
std::vector<Recipe> draw_recipes(const Dataset& dataset, const EpochPlan& plan, int index,
                                 const Augmentation& augmentation);

/// The batch of these recipes, but for its pixels.
Batch batch_of(const BatchPlan& plan, const std::vector<Recipe>& recipes);

/// Augmented training images: batch `index` of the plan, drawn and rendered.
Batch train_batch(const Dataset& dataset, const EpochPlan& plan, int index,
                  const Augmentation& augmentation);

/// The labels of letterboxed validation images, and how these are letterboxed.
Batch validation_labels(const Dataset& dataset, const BatchPlan& plan);

/// Letterboxed validation images, never enlarged, with their labels and how they are letterboxed.
Batch validation_batch(const Dataset& dataset, const BatchPlan& plan);

/// Images to validate with, and the batches that they form.
struct ValidationSet {
  Dataset dataset;
  std::vector<BatchPlan> batches;
};

/// YOLOv5's order and shapes: `rect_batches` with pad 0.5, or squares of imgsz.
ValidationSet validation_set(Dataset dataset, int batch_size, int stride, bool rect);

}  // namespace evolve::data

// How an augmented sample is put together: everything that is drawn or follows from labels.
//
// A recipe is made without touching a pixel. The pixels follow from it and from the data set's
// images alone: `render()` (augment.hpp) makes them with OpenCV, and a tensor program
// (trainer/render) for a whole batch on a device.
#pragma once

#include <array>
#include <opencv2/core/mat.hpp>
#include <optional>
#include <vector>

#include "trainer/data/augmentation.hpp"
#include "trainer/data/dataset.hpp"
#include "trainer/data/mosaic.hpp"
#include "trainer/data/perspective.hpp"
#include "trainer/data/random_source.hpp"

namespace evolve::data {

/// How the samples of an epoch are composed.
struct Composition {
  /// The images that a mosaic takes its other three from, and mixup its second mosaic.
  std::vector<int> pool;
  /// Mosaics are possible; rectangular training makes none.
  bool mosaic = true;
};

/// A canvas of grey with images on it, and how it is warped.
struct Layer {
  cv::Size canvas;
  /// Four tiles of a mosaic, in the order of place_tile(), or one letterboxed image.
  std::vector<Piece> pieces;
  /// Outlines on the canvas whose pixels appear a second time, mirrored.
  std::vector<Segment> copies;
  Warp warp;
};

struct Recipe {
  /// Two are blended: mixup.
  std::vector<Layer> layers;
  /// The share of the first in the blend.
  double ratio = 1;
  /// Factors of hue, saturation and value; absent where nothing may change colours.
  std::optional<std::array<double, 3>> hsv;
  /// Upside down, then left to right.
  bool flip_y = false, flip_x = false;
  /// Of the finished sample, normalised to it.
  std::vector<Label> labels;
};

/// Draws one sample of `shape` around image `index`, as YOLOv5's training loader makes it without
/// albumentations: mosaic (then mixup) or letterbox, perspective, HSV, flips. A mosaic is always a
/// square of imgsz.
Recipe draw_recipe(const Dataset& dataset, int index, cv::Size shape,
                   const Composition& composition, const Augmentation& augmentation,
                   RandomSource& rng);

/// The places of all images that these samples show.
std::vector<int> images_in(const std::vector<Recipe>& recipes);

}  // namespace evolve::data

// Augmentation: what a training sample goes through.
#pragma once

#include <opencv2/core/mat.hpp>
#include <vector>

#include "hyp/hyperparameters.hpp"
#include "trainer/data/dataset.hpp"
#include "trainer/data/random_source.hpp"

namespace evolve::data {

/// The augmentation hyperparameters, under YOLOv5's names and in its units: fractions, degrees,
/// probabilities.
struct Augmentation {
  double hsv_h = 0, hsv_s = 0, hsv_v = 0;
  double degrees = 0, translate = 0, scale = 0, shear = 0, perspective = 0;
  double flipud = 0, fliplr = 0;
  double mosaic = 0, mixup = 0, copy_paste = 0;
};

/// Throws `Error` when one of the 13 is absent or no number.
Augmentation augmentation_of(const hyp::Hyperparameters& hyp);

/// A training image (BGR) with its labels, normalised to it. The canvases are kept between
/// samples, so that making one allocates nothing.
struct Sample {
  cv::Mat pixels;
  std::vector<Label> labels;
  cv::Mat canvas, other, scratch;
};

/// How the samples of an epoch are composed.
struct Composition {
  /// The images that a mosaic takes its other three from, and mixup its second mosaic.
  std::vector<int> pool;
  /// Mosaics are possible; rectangular training makes none.
  bool mosaic = true;
};

/// One augmented sample of `shape` around image `index`, as YOLOv5's training loader makes it
/// without albumentations: mosaic (then mixup) or letterbox, perspective, HSV, flips. A mosaic is
/// always a square of imgsz.
void make_sample(const Dataset& dataset, int index, cv::Size shape, const Composition& composition,
                 const Augmentation& augmentation, RandomSource& rng, Sample& sample);

}  // namespace evolve::data

#include "trainer/data/augment.hpp"

#include <opencv2/core.hpp>

#include "trainer/data/copy_paste.hpp"
#include "trainer/data/mosaic.hpp"
#include "trainer/data/perspective.hpp"
#include "trainer/data/pixels.hpp"

namespace evolve::data {
namespace {

void render(const Dataset& dataset, const Layer& layer, cv::Mat& canvas, cv::Mat& pixels) {
  paint(dataset, layer.pieces, layer.canvas, canvas);
  paste(canvas, layer.copies);
  warp(canvas, layer.warp, pixels);
}

}  // namespace

void render(const Dataset& dataset, const Recipe& recipe, Sample& sample) {
  render(dataset, recipe.layers[0], sample.canvas, sample.pixels);
  if (recipe.layers.size() > 1) {
    render(dataset, recipe.layers[1], sample.canvas, sample.other);
    blend(sample.pixels, sample.other, recipe.ratio);
  }
  if (recipe.hsv) scale_hsv(sample.pixels, *recipe.hsv, sample.scratch);
  if (recipe.flip_y) cv::flip(sample.pixels, sample.pixels, 0);
  if (recipe.flip_x) cv::flip(sample.pixels, sample.pixels, 1);
  sample.labels = recipe.labels;
}

}  // namespace evolve::data

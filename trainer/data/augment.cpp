#include "trainer/data/augment.hpp"

#include <algorithm>
#include <opencv2/core.hpp>

#include "trainer/data/boxes.hpp"
#include "trainer/data/copy_paste.hpp"
#include "trainer/data/letterbox.hpp"
#include "trainer/data/mosaic.hpp"
#include "trainer/data/perspective.hpp"
#include "trainer/data/pixels.hpp"

namespace evolve::data {
namespace {

/// A warped mosaic of imgsz x imgsz in `pixels`.
std::vector<Box> mosaic(const Dataset& dataset, int index, const std::vector<int>& pool,
                        const Augmentation& augmentation, RandomSource& rng, cv::Mat& canvas,
                        cv::Mat& pixels) {
  const double size = dataset.imgsz;
  const int y = static_cast<int>(rng.uniform(size / 2, 2 * size - size / 2));
  const int x = static_cast<int>(rng.uniform(size / 2, 2 * size - size / 2));
  const std::array<int, 3> others = rng.choices3(pool);
  std::array<int, 4> images = {index, others[0], others[1], others[2]};
  rng.shuffle(images);

  Objects objects = assemble_mosaic(dataset, images, {x, y}, canvas);
  copy_paste(canvas, objects, augmentation.copy_paste, rng);
  const Warp drawn = draw_warp(augmentation, canvas.size(), {dataset.imgsz, dataset.imgsz}, rng);
  warp(canvas, drawn, pixels);
  return warp(objects, drawn);
}

/// One warped image of `shape` in `pixels`.
std::vector<Box> single(const Dataset& dataset, int index, cv::Size shape,
                        const Augmentation& augmentation, RandomSource& rng, cv::Mat& canvas,
                        cv::Mat& pixels) {
  const cv::Mat image = pixels_of(dataset, index);
  const Letterbox letterboxed = letterbox(image, shape, true, canvas);
  Objects objects;
  for (const Label& label : dataset.images[static_cast<std::size_t>(index)].labels) {
    objects.boxes.push_back(to_pixels(label, image.size(), letterboxed));
    objects.outlines.emplace_back();  // YOLOv5 warps boxes here even where there are outlines
  }
  const Warp drawn = draw_warp(augmentation, canvas.size(), shape, rng);
  warp(canvas, drawn, pixels);
  return warp(objects, drawn);
}

void jitter_colours(const Augmentation& augmentation, RandomSource& rng, cv::Mat& pixels,
                    cv::Mat& scratch) {
  if (augmentation.hsv_h == 0 && augmentation.hsv_s == 0 && augmentation.hsv_v == 0) return;
  const std::array<double, 3> draw = rng.uniform3(-1, 1);
  scale_hsv(pixels,
            {draw[0] * augmentation.hsv_h + 1, draw[1] * augmentation.hsv_s + 1,
             draw[2] * augmentation.hsv_v + 1},
            scratch);
}

}  // namespace

Augmentation augmentation_of(const hyp::Hyperparameters& hyp) {
  return {.hsv_h = hyp.number("hsv_h"),
          .hsv_s = hyp.number("hsv_s"),
          .hsv_v = hyp.number("hsv_v"),
          .degrees = hyp.number("degrees"),
          .translate = hyp.number("translate"),
          .scale = hyp.number("scale"),
          .shear = hyp.number("shear"),
          .perspective = hyp.number("perspective"),
          .flipud = hyp.number("flipud"),
          .fliplr = hyp.number("fliplr"),
          .mosaic = hyp.number("mosaic"),
          .mixup = hyp.number("mixup"),
          .copy_paste = hyp.number("copy_paste")};
}

void make_sample(const Dataset& dataset, int index, cv::Size shape, const Composition& composition,
                 const Augmentation& augmentation, RandomSource& rng, Sample& sample) {
  std::vector<Box> boxes;
  if (composition.mosaic && rng.random() < augmentation.mosaic) {
    boxes =
        mosaic(dataset, index, composition.pool, augmentation, rng, sample.canvas, sample.pixels);
    if (rng.random() < augmentation.mixup) {
      const auto more = mosaic(dataset, rng.choice(composition.pool), composition.pool,
                               augmentation, rng, sample.canvas, sample.other);
      blend(sample.pixels, sample.other, rng.beta(32, 32));
      boxes.insert(boxes.end(), more.begin(), more.end());
    }
  } else {
    boxes = single(dataset, index, shape, augmentation, rng, sample.canvas, sample.pixels);
  }

  sample.labels.clear();
  for (const Box& box : boxes) {
    sample.labels.push_back(to_label(box, sample.pixels.cols, sample.pixels.rows));
  }
  jitter_colours(augmentation, rng, sample.pixels, sample.scratch);
  if (rng.random() < augmentation.flipud) {
    cv::flip(sample.pixels, sample.pixels, 0);
    for (Label& label : sample.labels) label.y = 1 - label.y;
  }
  if (rng.random() < augmentation.fliplr) {
    cv::flip(sample.pixels, sample.pixels, 1);
    for (Label& label : sample.labels) label.x = 1 - label.x;
  }
}

}  // namespace evolve::data

#include "trainer/data/augmentation.hpp"

namespace evolve::data {

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

}  // namespace evolve::data

#include "trainer/loss/loss_options.hpp"

namespace evolve::trainer {

LossOptions loss_options(const hyp::Hyperparameters& hyp, const ModelConfig& config, int imgsz,
                         double label_smoothing) {
  const double per_level = 3.0 / config.levels();
  const double size = imgsz / 640.0;
  return {.box = hyp.number("box") * per_level,
          .cls = hyp.number("cls") * config.nc / 80 * per_level,
          .obj = hyp.number("obj") * size * size * per_level,
          .cls_pw = hyp.number("cls_pw"),
          .obj_pw = hyp.number("obj_pw"),
          .anchor_t = hyp.number("anchor_t"),
          .fl_gamma = hyp.number("fl_gamma"),
          .label_smoothing = label_smoothing};
}

}  // namespace evolve::trainer

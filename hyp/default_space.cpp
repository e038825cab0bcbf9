#include "hyp/space.hpp"

namespace evolve::hyp {

namespace {

constexpr auto real = Gene::Kind::real;
constexpr auto whole = Gene::Kind::integer;
constexpr auto linear = Gene::Scale::linear;
constexpr auto log = Gene::Scale::log;
constexpr bool evolves = true;
constexpr bool fixed = false;

Gene gene(const char* name, Gene::Kind kind, Gene::Scale scale, double low, double high,
          bool evolve, double start) {
  return {.name = name,
          .kind = kind,
          .scale = scale,
          .low = low,
          .high = high,
          .choices = {},
          .evolve = evolve,
          .start = start};
}

}  // namespace

const Space& default_space() {
  // clang-format off
  static const Space space{{
      gene("lr0",             real,  log,    1e-5, 0.1,   fixed,   0.01),    // initial learning rate
      gene("lrf",             real,  log,    0.01, 1.0,   fixed,   0.01),    // final learning rate / lr0
      gene("momentum",        real,  linear, 0.6,  0.98,  fixed,   0.937),   // SGD momentum, Adam beta1
      gene("weight_decay",    real,  linear, 0.0,  0.001, fixed,   0.0005),
      gene("warmup_epochs",   real,  linear, 0.0,  5.0,   fixed,   3.0),
      gene("warmup_momentum", real,  linear, 0.0,  0.95,  fixed,   0.8),
      gene("warmup_bias_lr",  real,  linear, 0.0,  0.2,   fixed,   0.1),
      gene("box",             real,  linear, 0.02, 0.2,   fixed,   0.05),    // box loss gain
      gene("cls",             real,  linear, 0.2,  4.0,   fixed,   0.5),     // class loss gain
      gene("cls_pw",          real,  linear, 0.5,  2.0,   fixed,   1.0),     // class BCE positive weight
      gene("obj",             real,  linear, 0.2,  4.0,   fixed,   1.0),     // objectness loss gain
      gene("obj_pw",          real,  linear, 0.5,  2.0,   fixed,   1.0),     // objectness BCE positive weight
      gene("iou_t",           real,  linear, 0.1,  0.7,   fixed,   0.2),     // IoU training threshold
      gene("anchor_t",        real,  linear, 2.0,  8.0,   fixed,   4.0),     // anchor-multiple threshold
      gene("anchors",         whole, linear, 2.0,  10.0,  fixed,   3.0),     // anchors per output grid
      gene("fl_gamma",        real,  linear, 0.0,  2.0,   fixed,   0.0),     // focal loss gamma
      gene("hsv_h",           real,  linear, 0.0,  0.1,   evolves, 0.015),   // hue, fraction
      gene("hsv_s",           real,  linear, 0.0,  0.9,   evolves, 0.7),     // saturation, fraction
      gene("hsv_v",           real,  linear, 0.0,  0.9,   evolves, 0.4),     // value, fraction
      gene("degrees",         real,  linear, 0.0,  45.0,  evolves, 0.0),     // rotation, +/- degrees
      gene("translate",       real,  linear, 0.0,  0.9,   evolves, 0.1),     // translation, +/- fraction
      gene("scale",           real,  linear, 0.0,  0.9,   evolves, 0.5),     // scale, +/- gain
      gene("shear",           real,  linear, 0.0,  10.0,  evolves, 0.0),     // shear, +/- degrees
      gene("perspective",     real,  linear, 0.0,  0.001, evolves, 0.0),     // perspective, +/- fraction
      gene("flipud",          real,  linear, 0.0,  1.0,   evolves, 0.0),     // up-down flip, probability
      gene("fliplr",          real,  linear, 0.0,  1.0,   evolves, 0.5),     // left-right flip, probability
      gene("mosaic",          real,  linear, 0.0,  1.0,   evolves, 1.0),     // mosaic, probability
      gene("mixup",           real,  linear, 0.0,  1.0,   evolves, 0.0),     // mixup, probability
      gene("copy_paste",      real,  linear, 0.0,  1.0,   evolves, 0.0),     // copy-paste, probability
  }};
  // clang-format on
  return space;
}

}  // namespace evolve::hyp

// What a loss weighs. Torch-free.
#pragma once

#include "hyp/hyperparameters.hpp"
#include "trainer/model/model_config.hpp"

namespace evolve::trainer {

struct LossOptions {
  /// Gains, already scaled to the model.
  double box = 0.05, cls = 0.5, obj = 1;
  /// Weights of positives in the two cross-entropies.
  double cls_pw = 1, obj_pw = 1;
  /// Greatest ratio of an object's side to its anchor's.
  double anchor_t = 4;
  /// Focal loss exponent; 0 or less is plain cross-entropy. Lin et al., Focal Loss for Dense Object
  /// Detection.
  double fl_gamma = 0;
  double label_smoothing = 0;
};

/// From the hyperparameters, gains scaled as YOLOv5's train.py does: box by 3 / levels, cls by nc /
/// 80 * 3 / levels, obj by (imgsz / 640)² * 3 / levels. Throws `Error` when one is absent.
LossOptions loss_options(const hyp::Hyperparameters& hyp, const ModelConfig& config, int imgsz,
                         double label_smoothing);

}  // namespace evolve::trainer

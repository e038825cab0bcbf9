// The loss of YOLOv5: boxes by CIoU, objectness and classes by binary cross-entropy.
//
// `assign()` (targets.hpp) says which cells and anchors answer for which objects, `Matches` which
// rows of the maps these are; `Loss` compares the maps of a detector with them.
#pragma once

#include <torch/types.h>

#include <vector>

#include "trainer/loss/loss_options.hpp"
#include "trainer/loss/matches.hpp"
#include "trainer/loss/targets.hpp"
#include "trainer/model/operators.hpp"

namespace evolve::trainer {

struct LossValue {
  /// Scalar with gradient: (box + obj + cls) * images.
  torch::Tensor total;
  /// [3]: box, obj, cls with their gains, without gradient.
  torch::Tensor items;
};

/// The loss of maps [batch, anchors, ny, nx, 5 + nc] against the objects of the batch. `anchors`:
/// [levels, anchors, 2] in cells, as Detector has them. The objectness of the levels, from the
/// finest on, weighs 4, 1 and 0.4 where there are three of them, else 4, 1, 0.25, 0.06, 0.02 (up to
/// most_levels). Its target is the predicted box's IoU; of several objects in one cell and anchor
/// the last one counts.
class Loss {
 public:
  Loss(const LossOptions& options, const torch::Tensor& anchors);

  /// Computes it with these from now on. `fast`, what it begins with, is level_loss() on the CPU in
  /// single precision, and torch's operators elsewhere.
  void use(Operators operators) { operators_ = operators; }

  /// The matches of objects in maps of these sizes, level by level.
  Matches matches(const std::vector<Target>& targets, std::int64_t images,
                  const std::vector<MapSize>& sizes, bool by_anchor = false) const;

  /// `matches` are those of matches() with the maps' sizes, on their device. Waits for nothing.
  LossValue operator()(const std::vector<torch::Tensor>& maps, const MatchTensors& matches) const;

  /// Finds the matches first, in the order of the maps' memory.
  LossValue operator()(const std::vector<torch::Tensor>& maps,
                       const std::vector<Target>& targets) const;

 private:
  /// The items of levels [rows, 5 + nc], with gradient: by torch's operators, or by level_loss().
  torch::Tensor by_operators(const std::vector<torch::Tensor>& levels,
                             const MatchTensors& matches) const;
  torch::Tensor by_levels(const std::vector<torch::Tensor>& levels,
                          const MatchTensors& matches) const;

  LossOptions options_;
  Operators operators_ = Operators::fast;
  /// Per level.
  std::vector<std::vector<std::array<float, 2>>> anchors_;
  std::vector<double> balance_;
};

/// Complete IoU of boxes [n, 4] (centre x, centre y, width, height): [n]. Zheng et al.,
/// Distance-IoU Loss, equation 10 and 11; α carries no gradient. Where no gradient is wanted, that
/// of a box in a that has no sides is a number too.
torch::Tensor complete_iou(const torch::Tensor& a, const torch::Tensor& b);

}  // namespace evolve::trainer

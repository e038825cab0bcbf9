// Target assignment: which cells and anchors answer for an object.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "trainer/model/model_config.hpp"

namespace evolve::trainer {

/// An object of a batch: image in the batch, class, centre x, centre y, width, height (0..1).
using Target = std::array<float, 6>;

/// One cell and anchor of one level that must predict one object.
struct Match {
  std::int64_t image = 0, anchor = 0, y = 0, x = 0;
  int cls = 0;
  /// Centre relative to the cell's corner, and size, in cells.
  std::array<float, 4> box{};
  /// (width, height) of the anchor, in cells.
  std::array<float, 2> anchor_size{};
};

/// Matches of one level, as YOLOv5 assigns them: an object takes every anchor whose sides differ
/// from its own by less than the factor `anchor_t`, in the cell of its centre and in the two
/// neighbours (not beyond the border) to which the centre is nearer than half a cell. `anchors` are
/// (width, height) in cells. The order is YOLOv5's: own cells first, then neighbours at the left,
/// above, right and below; in each of these by anchor, then by target.
std::vector<Match> assign(const std::vector<Target>& targets,
                          const std::vector<std::array<float, 2>>& anchors, MapSize size,
                          float anchor_t);

}  // namespace evolve::trainer

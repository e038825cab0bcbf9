// Where a warped image's pixels come from, as OpenCV finds it.
#pragma once

#include <cstdint>

#include "trainer/data/perspective.hpp"
#include "trainer/render/tables.hpp"

namespace evolve::trainer {

struct Flips {
  bool x = false, y = false;
};

/// Writes the columns and rows of layer `l`: the inverse of its warp, flipped afterwards, on a
/// canvas with a border of one pixel. They have their sizes already.
void add_coordinates(const data::Warp& warp, Flips flips, std::int64_t l, RenderTables& tables);

}  // namespace evolve::trainer

// What the labels of a batch ask of a detector's maps.
#pragma once

#include <torch/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "trainer/loss/targets.hpp"

namespace evolve::trainer {

/// Which rows of the maps answer for which boxes and classes. It follows from labels, anchors and
/// sizes alone, so that it is made before the maps are there, on another thread than theirs.
///
/// A level's map [batch, anchors, ny, nx, 5 + nc] counts as rows of 5 + nc numbers: with
/// `by_anchor` all cells of an anchor follow each other, as in YOLOv5's memory, else all anchors of
/// a cell, as in channels-last memory.
struct Matches {
  bool by_anchor = false;
  /// Of each level. Their sum is n.
  std::vector<std::int64_t> counts;
  /// [n], level by level: the row of the level's map, and the class.
  std::vector<std::int64_t> rows, classes;
  /// Indices in 0..n of the matches that decide their row's objectness (of several in one row the
  /// last), and those rows' places among the rows of all levels.
  std::vector<std::int64_t> deciding, deciding_rows;
  /// [n, 4] and [n, 2]: see Match.
  std::vector<float> boxes, anchor_sizes;

  /// How many bytes write() writes, to an address that is a multiple of 8.
  std::int64_t bytes() const;
  void write(std::byte* to) const;
};

/// A level's map as far as its matches care: its anchors as (width, height) in cells, and its size.
struct LevelShape {
  std::vector<std::array<float, 2>> anchors;
  MapSize size;
};

/// The matches of `targets` in maps of `images` images.
Matches match(const std::vector<Target>& targets, const std::vector<LevelShape>& levels,
              std::int64_t images, float anchor_t, bool by_anchor);

/// Matches on the device of the maps; fields as in Matches.
struct MatchTensors {
  bool by_anchor = false;
  std::vector<std::int64_t> counts;
  torch::Tensor rows, classes, deciding, deciding_rows, boxes, anchor_sizes;
};

/// Views of `bytes`, where matches.write() has written: uint8, at a multiple of 8.
MatchTensors tensors_of(const Matches& matches, const torch::Tensor& bytes);

}  // namespace evolve::trainer

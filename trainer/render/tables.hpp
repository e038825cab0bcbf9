// What the program that renders a batch is told.
#pragma once

#include <torch/types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trainer/data/recipe.hpp"
#include "trainer/render/image_store.hpp"

namespace evolve::trainer {

/// The recipes of a batch as numbers that each pixel looks up by its row, its column or its layer.
///
/// The layers are the first layer of each sample, then the second ones of those that are mixed. A
/// canvas of theirs has a border of one pixel of grey, and is `extent` wide and high with it,
/// whatever its own size.
struct RenderTables {
  std::int64_t samples = 0, layers = 0, height = 0, width = 0, extent = 0;
  bool projective = false;

  /// A pixel's place on its layer's canvas is column + row. Affine, 32 bits, in 1/1024 pixel:
  /// [2: x, y][layers][width] and [2][layers][height]. OpenCV's numbers, with what it rounds by.
  std::vector<std::int32_t> columns, rows;
  /// Projective: [3: x, y, w][layers][width] and [3][layers][height]; the place is x / w and y / w.
  /// The unit is each layer's own, so fine that rounding is no coarser than OpenCV's of doubles.
  std::vector<std::int64_t> fine_columns, fine_rows;

  /// A canvas pixel's place in the store is the sum of two terms, and grey if it is negative:
  /// [layers][2: above, below the centre][extent] by its x, and [layers][2: left, right of the
  /// centre][extent] by its y.
  std::vector<std::int64_t> x_terms, y_terms;
  /// Where a layer's part of x_terms and y_terms begins ([2: for x, for y one further][layers]) and
  /// its last one ([layers]): within these, a pixel stays on its own canvas.
  std::vector<std::int32_t> begins, lasts;
  /// [2: x, y][layers]: where the tiles meet.
  std::vector<std::int32_t> centres;

  /// Runs of canvas pixels, as y * extent + x, that show the pixel which lies mirrored: [2 * runs],
  /// beginning and end of each, ascending.
  std::vector<std::int32_t> mirrored;
  /// [layers]: x + its mirror image.
  std::vector<std::int32_t> mirrors;

  /// Of each mixed sample: which one it is, its first layer's share in 1 / 2^54, and what a pixel
  /// becomes that both layers have alike, [mixed][256]: OpenCV's doubles may round it down by 1.
  std::vector<std::int64_t> mixed, shares;
  std::vector<std::uint8_t> alike;
  /// [samples][3: hue, saturation, value][256]; none where no colours change. And where each of
  /// these tables begins: [samples][3].
  std::vector<std::uint8_t> colours;
  std::vector<std::int32_t> colours_begin;

  /// How many bytes write() writes, to an address that is a multiple of 8.
  std::int64_t bytes() const;
  void write(std::byte* to) const;
};

/// The tables of these samples, whose recipes are of one shape and all stored.
RenderTables tables_of(const std::vector<data::Recipe>& recipes, const ImageStore& store);
/// The tables of a batch, in as many parts as it takes to render each in little memory.
std::vector<RenderTables> tables_in_parts(const std::vector<data::Recipe>& recipes,
                                          const ImageStore& store);
/// Whether all pixels that the recipes show are stored in their sizes.
bool all_stored(const std::vector<data::Recipe>& recipes, const ImageStore& store);

/// The tables on the device, in the shapes in which the program takes them: [layers] is
/// [layers, 1, 1], begins are [2, 1, layers, 1, 1], columns are [n, layers, 1, width] and rows [n,
/// layers, height, 1]. What a batch has nothing of is undefined.
struct RenderTensors {
  torch::Tensor columns, rows, x_terms, y_terms, begins, lasts, centres, mirrored, mirrors;
  /// shares: [mixed, 1, 1, 1]; colours_begin: [samples, 1, 1, 3].
  torch::Tensor mixed, shares, alike, colours, colours_begin;
};

/// Views of `bytes`, where tables.write() has written: uint8, at a multiple of 8.
RenderTensors tensors_of(const RenderTables& tables, const torch::Tensor& bytes);

}  // namespace evolve::trainer

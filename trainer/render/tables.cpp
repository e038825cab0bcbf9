#include "trainer/render/tables.hpp"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <opencv2/core.hpp>

#include "trainer/data/copy_paste.hpp"
#include "trainer/data/pixels.hpp"
#include "trainer/render/coordinates.hpp"

namespace evolve::trainer {
namespace {

using data::Layer;
using data::Piece;
using data::Recipe;

/// Of the layers that are rendered at once, each of which takes some 200 bytes of the device's
/// memory.
constexpr std::int64_t most_pixels = 1 << 23;

/// Negative whatever is added to it, twice.
constexpr std::int64_t nowhere = std::numeric_limits<std::int64_t>::min() / 4;

std::vector<const Layer*> layers_of(const std::vector<Recipe>& recipes) {
  std::vector<const Layer*> layers;
  for (const Recipe& recipe : recipes) layers.push_back(&recipe.layers[0]);
  for (const Recipe& recipe : recipes) {
    if (recipe.layers.size() > 1) layers.push_back(&recipe.layers[1]);
  }
  return layers;
}

std::int64_t extent_of(const std::vector<const Layer*>& layers) {
  int side = 0;
  for (const Layer* layer : layers)
    side = std::max({side, layer->canvas.width, layer->canvas.height});
  return side + 2;
}

/// Where the terms of layer l begin, two of `extent` for each layer.
std::int32_t first_term(std::int64_t l, const RenderTables& tables) {
  return static_cast<std::int32_t>(2 * l * tables.extent);
}

/// Says how a layer's canvas is counted, where its tiles meet and what mirrors it. A letterboxed
/// image is the last tile of a mosaic that has no others.
void add_canvas(const Layer& layer, std::int64_t l, RenderTables& tables) {
  const auto first = first_term(l, tables);
  const auto of_x = static_cast<std::size_t>(l), of_y = static_cast<std::size_t>(tables.layers + l);
  tables.begins[of_x] = first;
  tables.begins[of_y] = first + 1;
  tables.lasts.push_back(first + static_cast<std::int32_t>(tables.extent) - 1);
  const cv::Point centre = layer.pieces.back().tile.canvas.tl();
  tables.centres[of_x] = first + centre.x + 1;
  tables.centres[of_y] = first + centre.y + 1;
  tables.mirrors.push_back(2 * first + layer.canvas.width + 1);
}

/// Places a layer's pieces; `l` is its number.
void add_pieces(const Layer& layer, std::int64_t l, const ImageStore& store, RenderTables& tables) {
  std::size_t quadrant = 4 - layer.pieces.size();
  for (const Piece& piece : layer.pieces) {
    const std::int64_t right = quadrant % 2, below = quadrant / 2;
    const auto [canvas, image, pad_x, pad_y] = piece.tile;
    const std::int64_t begin = store.begin_of(piece).value();
    auto* const x_terms =
        &tables.x_terms[static_cast<std::size_t>((2 * l + below) * tables.extent)];
    auto* const y_terms =
        &tables.y_terms[static_cast<std::size_t>((2 * l + right) * tables.extent)];
    for (int x = canvas.x; x < canvas.br().x; ++x) x_terms[x + 1] = x - pad_x;
    for (int y = canvas.y; y < canvas.br().y; ++y)
      y_terms[y + 1] = begin + std::int64_t{y - pad_y} * piece.size.width;
    ++quadrant;
  }
}

/// The runs of ones in a layer's mask.
void add_mirrored(const Layer& layer, std::int64_t l, RenderTables& tables) {
  if (layer.copies.empty()) return;
  const cv::Mat mask = data::mirror_mask(layer.copies, layer.canvas);
  for (int y = 0; y < mask.rows; ++y) {
    const auto* row = mask.ptr<std::uint8_t>(y);
    const std::int64_t first = first_term(l, tables);
    const std::int64_t begin = (first + y + 1) * tables.extent + first + 1;
    for (int x = 0; x <= mask.cols; ++x) {
      const bool before = x > 0 && row[x - 1] != 0, now = x < mask.cols && row[x] != 0;
      if (before != now) tables.mirrored.push_back(static_cast<std::int32_t>(begin + x));
    }
  }
}

void add_mix(const Recipe& recipe, std::int64_t sample, RenderTables& tables) {
  if (recipe.layers.size() == 1) return;
  tables.mixed.push_back(sample);
  tables.shares.push_back(std::llround(std::ldexp(recipe.ratio, 54)));
  cv::Mat all(1, 256, CV_8U);
  for (int i = 0; i < 256; ++i) all.at<std::uint8_t>(i) = static_cast<std::uint8_t>(i);
  cv::Mat both;
  cv::merge(std::vector{all, all, all}, both);
  data::blend(both, both.clone(), recipe.ratio);
  for (int i = 0; i < 256; ++i) tables.alike.push_back(both.at<cv::Vec3b>(i)[0]);
}

void add_colours(const Recipe& recipe, RenderTables& tables) {
  if (!recipe.hsv) return;
  cv::Mat channels[3];
  cv::split(data::hsv_tables(*recipe.hsv), channels);
  for (const cv::Mat& channel : channels) {
    tables.colours_begin.push_back(static_cast<std::int32_t>(tables.colours.size()));
    tables.colours.insert(tables.colours.end(), channel.begin<std::uint8_t>(),
                          channel.end<std::uint8_t>());
  }
}

/// Calls `put` with each array, in the order in which they lie: those of 8 bytes first; and with
/// what it is on the device.
template <class Tables, class Put>
void for_each_array(Tables& tables, const Put& put) {
  put(tables.fine_columns, &RenderTensors::columns);
  put(tables.fine_rows, &RenderTensors::rows);
  put(tables.x_terms, &RenderTensors::x_terms);
  put(tables.y_terms, &RenderTensors::y_terms);
  put(tables.mixed, &RenderTensors::mixed);
  put(tables.shares, &RenderTensors::shares);
  put(tables.columns, &RenderTensors::columns);
  put(tables.rows, &RenderTensors::rows);
  put(tables.begins, &RenderTensors::begins);
  put(tables.lasts, &RenderTensors::lasts);
  put(tables.centres, &RenderTensors::centres);
  put(tables.mirrored, &RenderTensors::mirrored);
  put(tables.mirrors, &RenderTensors::mirrors);
  put(tables.colours_begin, &RenderTensors::colours_begin);
  put(tables.alike, &RenderTensors::alike);
  put(tables.colours, &RenderTensors::colours);
}

}  // namespace

RenderTables tables_of(const std::vector<Recipe>& recipes, const ImageStore& store) {
  const auto layers = layers_of(recipes);
  const data::Warp& warp = layers[0]->warp;
  RenderTables tables{.samples = std::ssize(recipes),
                      .layers = std::ssize(layers),
                      .height = warp.result.height,
                      .width = warp.result.width,
                      .extent = extent_of(layers),
                      .projective = warp.projective};
  const auto terms = static_cast<std::size_t>(2 * tables.layers * tables.extent);
  tables.x_terms.assign(terms, nowhere);
  tables.y_terms.assign(terms, nowhere);
  tables.begins.resize(2 * layers.size());
  tables.centres.resize(2 * layers.size());
  for (std::size_t l = 0; l < layers.size(); ++l) {
    add_canvas(*layers[l], static_cast<std::int64_t>(l), tables);
    add_pieces(*layers[l], static_cast<std::int64_t>(l), store, tables);
    add_mirrored(*layers[l], static_cast<std::int64_t>(l), tables);
  }
  for (std::size_t i = 0; i < recipes.size(); ++i) {
    // All that a recipe has, so that what it gets besides is not forgotten here.
    [[maybe_unused]] const auto& [of_recipe, ratio, hsv, flip_y, flip_x, labels] = recipes[i];
    add_mix(recipes[i], static_cast<std::int64_t>(i), tables);
    add_colours(recipes[i], tables);
  }
  const auto numbers = [&](std::int64_t coordinates, std::int64_t length) {
    return static_cast<std::size_t>(coordinates * tables.layers * length);
  };
  if (tables.projective) {
    tables.fine_columns.resize(numbers(3, tables.width));
    tables.fine_rows.resize(numbers(3, tables.height));
  } else {
    tables.columns.resize(numbers(2, tables.width));
    tables.rows.resize(numbers(2, tables.height));
  }
  std::vector<Flips> flips;
  for (const Recipe& recipe : recipes) flips.push_back({recipe.flip_x, recipe.flip_y});
  for (const auto sample : tables.mixed) flips.push_back(flips[static_cast<std::size_t>(sample)]);
  for (std::size_t l = 0; l < layers.size(); ++l)
    add_coordinates(layers[l]->warp, flips[l], static_cast<std::int64_t>(l), tables);
  return tables;
}

std::vector<RenderTables> tables_in_parts(const std::vector<Recipe>& recipes,
                                          const ImageStore& store) {
  const cv::Size size = recipes.front().layers.front().warp.result;
  const auto most = std::max<std::int64_t>(1, most_pixels / size.area());
  std::vector<RenderTables> parts;
  std::vector<Recipe> part;
  std::int64_t layers = 0;
  for (const Recipe& recipe : recipes) {
    if (!part.empty() && layers + std::ssize(recipe.layers) > most) {
      parts.push_back(tables_of(part, store));
      part.clear();
      layers = 0;
    }
    part.push_back(recipe);
    layers += std::ssize(recipe.layers);
  }
  parts.push_back(tables_of(part, store));
  return parts;
}

bool all_stored(const std::vector<Recipe>& recipes, const ImageStore& store) {
  const auto stored = [&](const Piece& piece) { return store.begin_of(piece).has_value(); };
  return std::ranges::all_of(recipes, [&](const Recipe& recipe) {
    return std::ranges::all_of(recipe.layers, [&](const Layer& layer) {
      return std::ranges::all_of(layer.pieces, stored);
    });
  });
}

std::int64_t RenderTables::bytes() const {
  std::size_t sum = 0;
  for_each_array(*this,
                 [&](const auto& values, auto) { sum += values.size() * sizeof(values[0]); });
  return static_cast<std::int64_t>(sum);
}

void RenderTables::write(std::byte* to) const {
  for_each_array(*this, [&](const auto& values, auto) {
    const auto size = values.size() * sizeof(values[0]);
    if (size > 0) std::memcpy(to, values.data(), size);
    to += size;
  });
}

RenderTensors tensors_of(const RenderTables& tables, const torch::Tensor& bytes) {
  RenderTensors tensors;
  std::int64_t at = 0;
  for_each_array(tables, [&](const auto& values, torch::Tensor RenderTensors::*tensor) {
    if (values.empty()) return;
    constexpr auto type = sizeof(values[0]) == 8   ? torch::kLong
                          : sizeof(values[0]) == 4 ? torch::kInt
                                                   : torch::kByte;
    const auto size = static_cast<std::int64_t>(values.size() * sizeof(values[0]));
    tensors.*tensor = bytes.narrow(0, at, size).view(type);
    at += size;
  });
  const auto shape = [](torch::Tensor& tensor, torch::IntArrayRef sizes) {
    if (tensor.defined()) tensor = tensor.view(sizes);
  };
  const auto coordinates = tables.projective ? 3 : 2;
  shape(tensors.columns, {coordinates, tables.layers, 1, tables.width});
  shape(tensors.rows, {coordinates, tables.layers, tables.height, 1});
  shape(tensors.begins, {2, 1, tables.layers, 1, 1});
  shape(tensors.lasts, {tables.layers, 1, 1});
  shape(tensors.centres, {2, tables.layers, 1, 1});
  shape(tensors.mirrors, {tables.layers, 1, 1});
  shape(tensors.shares, {-1, 1, 1, 1});
  shape(tensors.colours_begin, {-1, 1, 1, 3});
  return tensors;
}

}  // namespace evolve::trainer

#include "trainer/data/recipe.hpp"

#include "trainer/data/boxes.hpp"
#include "trainer/data/copy_paste.hpp"
#include "trainer/data/letterbox.hpp"

namespace evolve::data {
namespace {

/// A layer, and the objects that are seen on it.
struct Drawn {
  Layer layer;
  std::vector<Box> boxes;
};

/// A mosaic, warped to imgsz x imgsz.
Drawn draw_mosaic(const Dataset& dataset, int index, const std::vector<int>& pool,
                  const Augmentation& augmentation, RandomSource& rng) {
  const double size = dataset.imgsz;
  const int y = static_cast<int>(rng.uniform(size / 2, 2 * size - size / 2));
  const int x = static_cast<int>(rng.uniform(size / 2, 2 * size - size / 2));
  const std::array<int, 3> others = rng.choices3(pool);
  std::array<int, 4> images = {index, others[0], others[1], others[2]};
  rng.shuffle(images);

  Layer layer{.canvas = {2 * dataset.imgsz, 2 * dataset.imgsz},
              .pieces = mosaic_pieces(dataset, images, {x, y})};
  Objects objects = mosaic_objects(dataset, layer.pieces);
  layer.copies = draw_copies(objects, layer.canvas.width, augmentation.copy_paste, rng);
  layer.warp = draw_warp(augmentation, layer.canvas, {dataset.imgsz, dataset.imgsz}, rng);
  auto boxes = warp(objects, layer.warp);
  return {std::move(layer), std::move(boxes)};
}

/// One letterboxed image, warped to `shape`.
Drawn draw_single(const Dataset& dataset, int index, cv::Size shape,
                  const Augmentation& augmentation, RandomSource& rng) {
  const cv::Size size = size_of(dataset, index);
  const Letterbox letterboxed = place_letterbox(size, shape, true);
  Layer layer{.canvas = shape, .pieces = {letterboxed_piece(index, letterboxed)}};
  Objects objects;
  for (const Label& label : dataset.images[static_cast<std::size_t>(index)].labels) {
    objects.boxes.push_back(to_pixels(label, size, letterboxed));
    objects.outlines.emplace_back();  // YOLOv5 warps boxes here even where there are outlines
  }
  layer.warp = draw_warp(augmentation, shape, shape, rng);
  auto boxes = warp(objects, layer.warp);
  return {std::move(layer), std::move(boxes)};
}

void draw_colours(const Augmentation& augmentation, RandomSource& rng, Recipe& recipe) {
  if (!augmentation.changes_colours()) return;
  const std::array<double, 3> draw = rng.uniform3(-1, 1);
  recipe.hsv = {draw[0] * augmentation.hsv_h + 1, draw[1] * augmentation.hsv_s + 1,
                draw[2] * augmentation.hsv_v + 1};
}

void draw_flips(const Augmentation& augmentation, RandomSource& rng, Recipe& recipe) {
  recipe.flip_y = rng.random() < augmentation.flipud;
  recipe.flip_x = rng.random() < augmentation.fliplr;
  for (Label& label : recipe.labels) {
    if (recipe.flip_y) label.y = 1 - label.y;
    if (recipe.flip_x) label.x = 1 - label.x;
  }
}

}  // namespace

Recipe draw_recipe(const Dataset& dataset, int index, cv::Size shape,
                   const Composition& composition, const Augmentation& augmentation,
                   RandomSource& rng) {
  std::vector<Drawn> drawn;
  Recipe recipe;
  if (composition.mosaic && rng.random() < augmentation.mosaic) {
    drawn.push_back(draw_mosaic(dataset, index, composition.pool, augmentation, rng));
    if (rng.random() < augmentation.mixup) {
      const int other = rng.choice(composition.pool);
      drawn.push_back(draw_mosaic(dataset, other, composition.pool, augmentation, rng));
      recipe.ratio = rng.beta(32, 32);
    }
  } else {
    drawn.push_back(draw_single(dataset, index, shape, augmentation, rng));
  }
  for (Drawn& part : drawn) {
    const cv::Size result = part.layer.warp.result;
    for (const Box& box : part.boxes)
      recipe.labels.push_back(to_label(box, result.width, result.height));
    recipe.layers.push_back(std::move(part.layer));
  }
  draw_colours(augmentation, rng, recipe);
  draw_flips(augmentation, rng, recipe);
  return recipe;
}

std::vector<int> images_in(const std::vector<Recipe>& recipes) {
  std::vector<int> images;
  for (const Recipe& recipe : recipes)
    for (const Layer& layer : recipe.layers)
      for (const Piece& piece : layer.pieces) images.push_back(piece.image);
  return images;
}

}  // namespace evolve::data

// A batch as an image, with boxes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trainer/data/batch.hpp"

namespace evolve::data {

/// A box in the pixels of its image in the batch.
struct DrawnBox {
  int cls = 0;
  /// Written beside the class; 1 for a label, where nothing is written.
  float conf = 1;
  float x1 = 0, y1 = 0, x2 = 0, y2 = 0;
};

/// The labels of each image of a batch.
std::vector<std::vector<DrawnBox>> labels_of(const Batch& batch);

/// Draws the first 16 images of a batch in a grid with `boxes`, one list per image, each class
/// in its colour. Small images are enlarged; the whole is at most 1920 pixels wide and high.
/// `file` ends in .jpg or .png. Throws `Error` when it cannot be written.
void draw_batch(const Batch& batch, const std::vector<std::vector<DrawnBox>>& boxes,
                const std::vector<std::string>& names, const std::filesystem::path& file);

}  // namespace evolve::data

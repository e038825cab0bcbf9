// The mosaic: four images around a point.
#pragma once

#include <array>
#include <opencv2/core/mat.hpp>

#include "trainer/data/boxes.hpp"
#include "trainer/data/dataset.hpp"

namespace evolve::data {

/// Where one image of a mosaic goes.
struct Tile {
  /// The part of the canvas that it fills, and the part of the image that is seen there.
  cv::Rect canvas, image;
  /// Where the image's corner lies on the canvas; may be negative.
  int pad_x = 0, pad_y = 0;
};

/// Tile 0 lies left above the centre, 1 right above, 2 left below, 3 right below, each with a
/// corner at the centre.
Tile place_tile(int tile, cv::Point centre, cv::Size image, int canvas_size);

/// Puts four images (places in the data set) on a grey canvas of twice the data set's imgsz and
/// gathers their objects, clipped to it.
Objects assemble_mosaic(const Dataset& dataset, const std::array<int, 4>& images, cv::Point centre,
                        cv::Mat& canvas);

}  // namespace evolve::data

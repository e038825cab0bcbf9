// The mosaic: four images around a point. A letterboxed image is a canvas with one.
#pragma once

#include <array>
#include <opencv2/core/mat.hpp>
#include <vector>

#include "trainer/data/boxes.hpp"
#include "trainer/data/dataset.hpp"
#include "trainer/data/letterbox.hpp"

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

/// An image of the data set on a canvas.
struct Piece {
  int image = 0;
  /// The size in which it is shown: its own, or where that is too large for a letterbox a smaller
  /// one.
  cv::Size size;
  Tile tile;
};

/// Four images (places in the data set) around `centre`, on a canvas of twice the data set's imgsz.
std::vector<Piece> mosaic_pieces(const Dataset& dataset, const std::array<int, 4>& images,
                                 cv::Point centre);

/// A letterboxed image.
Piece letterboxed_piece(int image, const Letterbox& letterbox);

/// The objects of a mosaic, clipped to its canvas.
Objects mosaic_objects(const Dataset& dataset, const std::vector<Piece>& pieces);

/// Draws pieces on grey.
void paint(const Dataset& dataset, const std::vector<Piece>& pieces, cv::Size size,
           cv::Mat& canvas);

/// The pixels of a piece's image in the size in which it is shown.
cv::Mat shown_pixels(const Dataset& dataset, const Piece& piece);

}  // namespace evolve::data

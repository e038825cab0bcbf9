#include "trainer/data/mosaic.hpp"

#include <algorithm>
#include <opencv2/imgproc.hpp>

namespace evolve::data {

Tile place_tile(int tile, cv::Point centre, cv::Size image, int canvas_size) {
  const bool right = tile % 2 == 1, below = tile >= 2;
  const int x1 = right ? centre.x : std::max(centre.x - image.width, 0);
  const int x2 = right ? std::min(centre.x + image.width, canvas_size) : centre.x;
  const int y1 = below ? centre.y : std::max(centre.y - image.height, 0);
  const int y2 = below ? std::min(centre.y + image.height, canvas_size) : centre.y;
  const cv::Rect canvas(x1, y1, x2 - x1, y2 - y1);
  const cv::Point corner(right ? 0 : image.width - canvas.width,
                         below ? 0 : image.height - canvas.height);
  return {canvas, cv::Rect(corner, canvas.size()), x1 - corner.x, y1 - corner.y};
}

std::vector<Piece> mosaic_pieces(const Dataset& dataset, const std::array<int, 4>& images,
                                 cv::Point centre) {
  std::vector<Piece> pieces;
  for (int i = 0; i < 4; ++i) {
    const int image = images[static_cast<std::size_t>(i)];
    const cv::Size size = size_of(dataset, image);
    pieces.push_back({image, size, place_tile(i, centre, size, 2 * dataset.imgsz)});
  }
  return pieces;
}

Piece letterboxed_piece(int image, const Letterbox& letterbox) {
  const cv::Rect& inner = letterbox.inner;
  return {image, inner.size(), {inner, {{0, 0}, inner.size()}, inner.x, inner.y}};
}

Objects mosaic_objects(const Dataset& dataset, const std::vector<Piece>& pieces) {
  const auto last = static_cast<float>(2 * dataset.imgsz);
  Objects objects;
  for (const Piece& piece : pieces) {
    const Image& image = dataset.images[static_cast<std::size_t>(piece.image)];
    const auto width = static_cast<float>(piece.size.width);
    const auto height = static_cast<float>(piece.size.height);
    const auto pad_x = static_cast<float>(piece.tile.pad_x);
    const auto pad_y = static_cast<float>(piece.tile.pad_y);
    for (std::size_t k = 0; k < image.labels.size(); ++k) {
      Box box = to_pixels(image.labels[k], width, height, pad_x, pad_y);
      for (float* corner : {&box.x1, &box.y1, &box.x2, &box.y2})
        *corner = std::clamp(*corner, 0.0F, last);
      Segment outline;
      if (!image.segments.empty())
        outline = to_pixels(image.segments[k], width, height, pad_x, pad_y);
      for (cv::Point2f& point : outline) {
        point = {std::clamp(point.x, 0.0F, last), std::clamp(point.y, 0.0F, last)};
      }
      objects.boxes.push_back(box);
      objects.outlines.push_back(std::move(outline));
    }
  }
  return objects;
}

void paint(const Dataset& dataset, const std::vector<Piece>& pieces, cv::Size size,
           cv::Mat& canvas) {
  canvas.create(size, CV_8UC3);
  canvas.setTo(padding_grey);
  for (const Piece& piece : pieces)
    shown_pixels(dataset, piece)(piece.tile.image).copyTo(canvas(piece.tile.canvas));
}

cv::Mat shown_pixels(const Dataset& dataset, const Piece& piece) {
  const cv::Mat pixels = pixels_of(dataset, piece.image);
  if (pixels.size() == piece.size) return pixels;
  cv::Mat shown;
  cv::resize(pixels, shown, piece.size, 0, 0, cv::INTER_LINEAR);
  return shown;
}

}  // namespace evolve::data

#include "trainer/data/mosaic.hpp"

#include <algorithm>

#include "trainer/data/letterbox.hpp"

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

Objects assemble_mosaic(const Dataset& dataset, const std::array<int, 4>& images, cv::Point centre,
                        cv::Mat& canvas) {
  const int size = 2 * dataset.imgsz;
  const auto last = static_cast<float>(size);
  canvas.create(size, size, CV_8UC3);
  canvas.setTo(padding_grey);
  Objects objects;
  for (int i = 0; i < 4; ++i) {
    const int index = images[static_cast<std::size_t>(i)];
    const Image& image = dataset.images[static_cast<std::size_t>(index)];
    const cv::Mat pixels = pixels_of(dataset, index);
    const Tile tile = place_tile(i, centre, pixels.size(), size);
    pixels(tile.image).copyTo(canvas(tile.canvas));

    const auto width = static_cast<float>(pixels.cols), height = static_cast<float>(pixels.rows);
    const auto pad_x = static_cast<float>(tile.pad_x), pad_y = static_cast<float>(tile.pad_y);
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

}  // namespace evolve::data

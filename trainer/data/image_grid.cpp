#include "trainer/data/image_grid.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "core/error.hpp"

namespace evolve::data {
namespace {

constexpr int most_images = 16;
constexpr int most_pixels = 1920;
constexpr double most_enlarged = 6;

/// Of Okabe and Ito (2008), which colour-blind readers can tell apart; BGR.
const std::array<cv::Scalar, 7> palette = {cv::Scalar(0, 94, 213),    cv::Scalar(178, 114, 0),
                                           cv::Scalar(115, 158, 0),   cv::Scalar(0, 159, 230),
                                           cv::Scalar(167, 121, 204), cv::Scalar(233, 180, 86),
                                           cv::Scalar(66, 228, 240)};

/// Image `index` of the batch, BGR.
cv::Mat image(const Batch& batch, int index) {
  const std::size_t plane = static_cast<std::size_t>(batch.height) * batch.width;
  const auto* pixels = batch.pixels.data() + static_cast<std::size_t>(index) * 3 * plane;
  std::array<cv::Mat, 3> planes;
  for (std::size_t c = 0; c < 3; ++c) {  // RGB
    planes[2 - c] =
        cv::Mat(batch.height, batch.width, CV_8UC1, const_cast<std::uint8_t*>(pixels + c * plane));
  }
  cv::Mat merged;
  cv::merge(planes, merged);
  return merged;
}

std::string caption(const DrawnBox& box, const std::vector<std::string>& names) {
  const auto cls = static_cast<std::size_t>(box.cls);
  // OpenCV's fonts have no letters but ASCII's.
  const bool is_drawn = cls < names.size() && std::ranges::all_of(names[cls], [](char letter) {
                          return static_cast<unsigned char>(letter) < 0x80;
                        });
  std::string text = is_drawn ? names[cls] : std::to_string(box.cls);
  if (box.conf < 1) text += cv::format(" %.1f", static_cast<double>(box.conf));
  return text;
}

void draw_box(cv::Mat& tile, const DrawnBox& box, double scale,
              const std::vector<std::string>& names) {
  const auto at = [scale](float x, float y) {
    return cv::Point(static_cast<int>(std::lround(x * scale)),
                     static_cast<int>(std::lround(y * scale)));
  };
  const cv::Scalar& colour = palette[static_cast<std::size_t>(box.cls) % palette.size()];
  const cv::Point corner = at(box.x1, box.y1);
  cv::rectangle(tile, corner, at(box.x2, box.y2), colour, 2, cv::LINE_AA);
  const auto text = caption(box, names);
  constexpr double size = 0.42;
  int below = 0;
  const cv::Size room = cv::getTextSize(text, cv::FONT_HERSHEY_SIMPLEX, size, 1, &below);
  // Above the box where there is room, else inside.
  const int foot = corner.y > room.height + 4 ? corner.y : corner.y + room.height + 6;
  const cv::Point left(std::clamp(corner.x, 0, std::max(0, tile.cols - room.width - 4)), foot);
  cv::rectangle(tile, left - cv::Point(1, room.height + 5), left + cv::Point(room.width + 3, 0),
                colour, cv::FILLED);
  cv::putText(tile, text, left + cv::Point(1, -4), cv::FONT_HERSHEY_SIMPLEX, size,
              cv::Scalar(255, 255, 255), 1, cv::LINE_AA);
}

}  // namespace

std::vector<std::vector<DrawnBox>> labels_of(const Batch& batch) {
  std::vector<std::vector<DrawnBox>> boxes(static_cast<std::size_t>(batch.size));
  const auto width = static_cast<float>(batch.width), height = static_cast<float>(batch.height);
  for (const auto& [place, cls, x, y, w, h] : batch.targets) {
    boxes[static_cast<std::size_t>(place)].push_back({.cls = static_cast<int>(cls),
                                                      .x1 = (x - w / 2) * width,
                                                      .y1 = (y - h / 2) * height,
                                                      .x2 = (x + w / 2) * width,
                                                      .y2 = (y + h / 2) * height});
  }
  return boxes;
}

void draw_batch(const Batch& batch, const std::vector<std::vector<DrawnBox>>& boxes,
                const std::vector<std::string>& names, const std::filesystem::path& file) {
  const int count = std::min(batch.size, most_images);
  const int columns = static_cast<int>(std::ceil(std::sqrt(count)));
  const int rows = (count + columns - 1) / columns;
  const double scale = std::min(most_enlarged, static_cast<double>(most_pixels) /
                                                   (columns * std::max(batch.width, batch.height)));
  const cv::Size size(static_cast<int>(batch.width * scale),
                      static_cast<int>(batch.height * scale));
  cv::Mat grid(rows * size.height, columns * size.width, CV_8UC3, cv::Scalar(255, 255, 255));
  for (int i = 0; i < count; ++i) {
    cv::Mat tile = grid(cv::Rect({i % columns * size.width, i / columns * size.height}, size));
    cv::resize(image(batch, i), tile, size, 0, 0, scale < 1 ? cv::INTER_AREA : cv::INTER_LINEAR);
    for (const auto& box : boxes[static_cast<std::size_t>(i)]) draw_box(tile, box, scale, names);
    cv::rectangle(tile, {0, 0}, {size.width - 1, size.height - 1}, cv::Scalar(255, 255, 255), 2);
  }
  bool written = false;
  try {
    written = cv::imwrite(file.string(), grid);
  } catch (const cv::Exception&) {
  }
  if (!written) {
    throw run_failed(file.string() + ": this image cannot be written",
                     "check the folder and the space left");
  }
}

}  // namespace evolve::data

#include "trainer/data/letterbox.hpp"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

namespace evolve::data {
namespace {

/// Half to even, as Python rounds.
int rounded(double value) {
  return static_cast<int>(std::nearbyint(value));
}

}  // namespace

Letterbox place_letterbox(cv::Size in, cv::Size shape, bool scale_up) {
  double ratio = std::min(static_cast<double>(shape.height) / in.height,
                          static_cast<double>(shape.width) / in.width);
  if (!scale_up) ratio = std::min(ratio, 1.0);
  const cv::Size inner(rounded(in.width * ratio), rounded(in.height * ratio));
  const double pad_x = (shape.width - inner.width) / 2.0;
  const double pad_y = (shape.height - inner.height) / 2.0;
  return {ratio, pad_x, pad_y, {{rounded(pad_x - 0.1), rounded(pad_y - 0.1)}, inner}};
}

Letterbox letterbox(const cv::Mat& in, cv::Size shape, bool scale_up, cv::Mat& out) {
  const Letterbox placed = place_letterbox(in.size(), shape, scale_up);
  cv::Mat scaled = in;
  if (placed.inner.size() != in.size())
    cv::resize(in, scaled, placed.inner.size(), 0, 0, cv::INTER_LINEAR);
  out.create(shape, in.type());
  out.setTo(padding_grey);
  scaled.copyTo(out(placed.inner));
  return placed;
}

Box to_pixels(const Label& label, cv::Size image, const Letterbox& letterbox) {
  return to_pixels(label, static_cast<float>(letterbox.ratio * image.width),
                   static_cast<float>(letterbox.ratio * image.height),
                   static_cast<float>(letterbox.pad_x), static_cast<float>(letterbox.pad_y));
}

}  // namespace evolve::data

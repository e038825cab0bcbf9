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

Letterbox letterbox(const cv::Mat& in, cv::Size shape, bool scale_up, cv::Mat& out) {
  double ratio = std::min(static_cast<double>(shape.height) / in.rows,
                          static_cast<double>(shape.width) / in.cols);
  if (!scale_up) ratio = std::min(ratio, 1.0);
  const cv::Size inner(rounded(in.cols * ratio), rounded(in.rows * ratio));
  const double pad_x = (shape.width - inner.width) / 2.0;
  const double pad_y = (shape.height - inner.height) / 2.0;

  cv::Mat scaled = in;
  if (inner != in.size()) cv::resize(in, scaled, inner, 0, 0, cv::INTER_LINEAR);
  cv::copyMakeBorder(scaled, out, rounded(pad_y - 0.1), rounded(pad_y + 0.1), rounded(pad_x - 0.1),
                     rounded(pad_x + 0.1), cv::BORDER_CONSTANT, padding_grey);
  return {ratio, pad_x, pad_y};
}

Box to_pixels(const Label& label, cv::Size image, const Letterbox& letterbox) {
  return to_pixels(label, static_cast<float>(letterbox.ratio * image.width),
                   static_cast<float>(letterbox.ratio * image.height),
                   static_cast<float>(letterbox.pad_x), static_cast<float>(letterbox.pad_y));
}

}  // namespace evolve::data

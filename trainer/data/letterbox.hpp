// Letterboxing: an image scaled to fit and padded with grey.
#pragma once

#include <opencv2/core/mat.hpp>

#include "trainer/data/boxes.hpp"

namespace evolve::data {

/// The grey that fills what no image covers.
inline const cv::Scalar padding_grey(114, 114, 114);

struct Letterbox {
  /// Size in the result over size before.
  double ratio = 1;
  /// Padding on the left and on top, in pixels; an odd padding leaves a half, and the extra pixel
  /// lies right or below.
  double pad_x = 0, pad_y = 0;
  /// Where the scaled image lies in the result.
  cv::Rect inner;
};

/// How an image of size `in` is scaled to fit into `shape` (up only with `scale_up`) and centred,
/// as YOLOv5's letterbox without `auto` does it.
Letterbox place_letterbox(cv::Size in, cv::Size shape, bool scale_up);

/// Places `in` on grey as place_letterbox() says, with linear interpolation. `out` must not be
/// `in`.
Letterbox letterbox(const cv::Mat& in, cv::Size shape, bool scale_up, cv::Mat& out);

/// A label of an image of size `image` after its letterboxing, in pixels.
Box to_pixels(const Label& label, cv::Size image, const Letterbox& letterbox);

}  // namespace evolve::data

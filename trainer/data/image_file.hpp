// Image files: what can be known without decoding them, and decoding.
#pragma once

#include <opencv2/core/mat.hpp>
#include <string>

namespace evolve::data {

struct ImageSize {
  int width = 0, height = 0;
};

/// Whether the name ends like an image that YOLOv5 takes (bmp dng jpeg jpg mpo pfm png tif tiff
/// webp, any case).
bool is_image_name(const std::string& file);

/// Reads the header and the end of a JPEG, PNG, BMP, WebP or TIFF file (told by content, not by
/// name) and returns its size, before any EXIF rotation. Anything else is decoded to see whether
/// OpenCV can. Throws `Error` that names the file when it is absent, no image, truncated, or
/// smaller than 10 pixels.
ImageSize look_at_image(const std::string& file);

/// Decodes as cv::imread does: BGR, 8 bit, turned by its EXIF orientation; empty when that fails.
cv::Mat decode(const std::string& file);

}  // namespace evolve::data

// Image files: what can be known without decoding them, and decoding.
#pragma once

#include <opencv2/core/mat.hpp>
#include <string>

#include "core/error.hpp"

namespace evolve::data {

struct ImageSize {
  int width = 0, height = 0;
};

/// Whether the name ends like an image that YOLOv5 takes (bmp dng jpeg jpg mpo pfm png tif tiff
/// webp, any case).
bool is_image_name(const std::string& file);

/// Whether training can use the file; returns the size in which decode() gives it, turned by its
/// EXIF orientation. Of a JPEG or PNG (told by content, not by name) only the header and the end
/// are read. No library tells without decoding that the end is missing, and these two are what
/// large data sets hold; any other file is decoded. Throws `Error` that names the file when it is
/// absent, no image, truncated, or smaller than 10 pixels.
ImageSize check_image(const std::string& file);

/// Decodes as cv::imread does: BGR, 8 bit, turned by its EXIF orientation; empty when that fails.
cv::Mat decode(const std::string& file);

/// The error that is thrown where decode() gives nothing.
Error cannot_be_decoded(const std::string& file);

/// The error that is thrown where it gives another size than the header says.
Error other_than_its_header(const std::string& file, ImageSize said, ImageSize decoded);

}  // namespace evolve::data

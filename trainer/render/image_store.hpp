// The decoded images of a data set on a device.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "trainer/data/dataset.hpp"
#include "trainer/data/mosaic.hpp"

namespace evolve::trainer {

struct ImageStore {
  /// Pixels of the longer side.
  int imgsz = 0;
  /// An image's pixels in `pixels`, row by row.
  struct Place {
    cv::Size size;
    std::int64_t begin = 0;
  };
  /// The place of each image, and of what it is when it is letterboxed: the same but for images of
  /// a pixel too many (data::resized), which then shrink.
  std::vector<Place> images, letterboxed;
  /// [n, 3] uint8, RGB. The first one is the grey of what no image covers.
  torch::Tensor pixels;

  /// Where a piece's pixels begin; nothing where they are not stored in its size, as the letterbox
  /// of a rectangle may have an image a pixel smaller than that of the square.
  std::optional<std::int64_t> begin_of(const data::Piece& piece) const;
};

/// How many bytes of the device's memory the images fill.
std::int64_t store_bytes(const data::Dataset& dataset);

/// Copies the images to the device. `beat` is called all the time. Throws `Error` as
/// data::pixels_of does.
ImageStore store_images(
    const data::Dataset& dataset, const torch::Device& device,
    const std::function<void()>& beat = [] {});

}  // namespace evolve::trainer

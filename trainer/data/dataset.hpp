// YOLO-format data sets in memory.
#pragma once

#include <functional>
#include <opencv2/core/mat.hpp>
#include <string>
#include <vector>

#include "trainer/data/data_yaml.hpp"
#include "trainer/data/label_file.hpp"

namespace evolve::data {

/// An image with its labels, decoded and resized once.
struct Image {
  std::string file;
  /// BGR, 8 bit, height x width x 3; the longer side is the data set's imgsz. Empty when it is
  /// decoded again at each use; take it from `pixels_of`.
  cv::Mat pixels;
  /// Size before resizing.
  int original_height = 0, original_width = 0;
  std::vector<Label> labels;
  /// As many as labels, or none where the label file has boxes only.
  std::vector<Segment> segments;
};

struct Dataset {
  std::vector<std::string> names;
  int imgsz = 0;
  /// Loaded for training; see LoadOptions.
  bool training = true;
  std::vector<Image> images;
};

struct LoadOptions {
  /// Pixels of the longer side after resizing.
  int imgsz = 640;
  /// For training, images shrink by linear interpolation; for validation by area, as YOLOv5's
  /// load_image does.
  bool training = true;
  /// All classes become class 0, called "item".
  bool single_cls = false;
  int threads = 1;
  /// How much memory decoded images may fill. What does not fit is decoded at each use.
  std::size_t memory_bytes = std::size_t{4} << 30;
  /// Called after each image, by the thread that decoded it: loading may take long.
  std::function<void()> beat = [] {};
};

/// Decodes (as cv::imread does: BGR, turned by its EXIF orientation) and resizes all images of a
/// split. Throws `Error` that names the image which cannot be decoded, or the line of a label
/// file, as `check` does.
Dataset load(const DataConfig& config, Split split, const LoadOptions& options);

/// The pixels of image `index`, decoded and resized if they are not kept. Throws `Error` when its
/// file has gone or has got another size. Safe to call from several threads.
cv::Mat pixels_of(const Dataset& dataset, int index);

/// Their width and height, without decoding anything.
cv::Size size_of(const Dataset& dataset, int index);

/// The size of an image whose longer side is scaled to `imgsz`, the other rounded up. Where the
/// ratio rounds up, the longer side gets a pixel too many, as it does in YOLOv5: 533 to 641.
cv::Size resized(cv::Size image, int imgsz);
/// The image in that size; the image itself when it fits.
cv::Mat resized(const cv::Mat& image, int imgsz, bool training);

}  // namespace evolve::data

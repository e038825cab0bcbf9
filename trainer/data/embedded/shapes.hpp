// The embedded data sets: drawn, not read, so that evolve runs on a bare machine.
//
// "shapes" has three classes (circle, square, triangle), "shapes-base" five others to pre-train on.
// Images are 128 x 128 pixels with noise, clutter and occlusion, and the colour of an object
// tells nothing about its class. Everything depends on fixed seeds only: the same images
// everywhere.
#pragma once

#include <opencv2/core/mat.hpp>
#include <string>
#include <vector>

#include "trainer/data/data_yaml.hpp"
#include "trainer/data/label_file.hpp"

namespace evolve::data {

/// A drawn image.
struct Drawing {
  /// "images/train/0000.png"
  std::string name;
  /// BGR, 128 x 128.
  cv::Mat pixels;
  std::vector<Label> labels;
};

/// Whether `name` is "shapes" or "shapes-base".
bool is_embedded(const std::string& name);

/// The configuration of an embedded data set; its images' files are names only.
DataConfig embedded_config(const std::string& name);

/// Draws all images of a split, in the order of the configuration, on at most `threads` threads.
/// With `single_cls` every class is 0.
std::vector<Drawing> embedded_images(const std::string& name, Split split, bool single_cls = false,
                                     int threads = 1);

/// Writes an embedded data set in YOLO format: images/{train,val,test}/0000.png, labels/… and
/// NAME.yaml. Reading it back gives the same pixels and labels. Throws `Error` when the folder
/// holds anything else than this data set, or cannot be written.
void write_embedded(const std::string& name, const std::string& folder);

}  // namespace evolve::data

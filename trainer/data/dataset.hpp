// YOLO-format data sets in memory.
#pragma once

#include <array>
#include <opencv2/core/mat.hpp>
#include <string>
#include <vector>

namespace evolve::data {

/// One object: class and box (centre x, centre y, width, height), normalised to the picture's size.
struct Label {
  int cls = 0;
  float x = 0, y = 0, w = 0, h = 0;
  bool operator==(const Label&) const = default;
};

/// An object's outline: points (x, y), normalised to the picture's size. Empty for a box label.
using Segment = std::vector<cv::Point2f>;

/// A picture with its labels, decoded and resized once.
struct Picture {
  std::string file;
  /// BGR, 8 bit, height x width x 3; the longer side is the data set's imgsz.
  cv::Mat pixels;
  /// Size before resizing.
  int original_height = 0, original_width = 0;
  std::vector<Label> labels;
  /// As many as labels.
  std::vector<Segment> segments;
};

/// What a data YAML says.
struct DataConfig {
  std::string file;
  /// Class names; their number is the model's nc.
  std::vector<std::string> names;
  /// Files with pictures of each split, sorted, labels beside them by YOLOv5's rule (/images/ -> /labels/, .txt).
  std::vector<std::string> train, val, test;
};

enum class Split { train, val, test };

struct Dataset {
  std::vector<std::string> names;
  int imgsz = 0;
  std::vector<Picture> pictures;
};

/// What a look at a data set found, as YOLOv5's scan reports it.
struct Census {
  int pictures = 0;
  int without_labels = 0;
  int labels = 0;
  /// Labels per class.
  std::vector<int> per_class;
};

/// Reads a data YAML (path relative to the file, else to the current folder; splits are folders, lists of
/// folders or text files with one picture per line). "shapes" is the embedded data set and reads no file.
/// Throws `Error` with file and line when the YAML is broken, a split is missing or empty.
DataConfig read_data_yaml(const std::string& path);

/// Looks at every label and at each picture's header and end without decoding it. Throws `Error` that names
/// the file (and line) for a label out of range, a class beyond `names`, a truncated or unreadable picture.
Census check(const DataConfig& config, Split split);

/// Decodes and resizes all pictures of a split. Throws as `check` does.
Dataset load(const DataConfig& config, Split split, int imgsz, bool single_cls = false);

}  // namespace evolve::data

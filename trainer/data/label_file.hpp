// Label files: one object per line.
#pragma once

#include <opencv2/core/types.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace evolve::data {

/// One object: class and box (centre x, centre y, width, height), normalised to the image's size.
struct Label {
  int cls = 0;
  float x = 0, y = 0, w = 0, h = 0;
  bool operator==(const Label&) const = default;
};

/// An object's outline: points (x, y), normalised to the image's size.
using Segment = std::vector<cv::Point2f>;

struct LabelFile {
  std::vector<Label> labels = {};
  /// As many as labels when a line holds an outline (a box then counts as its rectangle), else
  /// empty.
  std::vector<Segment> segments = {};
  /// How many rows were dropped because the file has them twice.
  int duplicates = 0;
};

/// Reads lines `class x y w h` or `class x1 y1 x2 y2 x3 y3 …` (an outline: its extremes are the
/// box). Rows that occur twice are dropped, which sorts the others, as YOLOv5 does. `file` is what
/// errors say. Throws `Error` with file and line for a wrong number of columns, a text, a box that
/// as floats is outside 0..1 (points of an outline may be), or a class that is not an integer in
/// 0..classes - 1: the first, and how many more lines are wrong. With `single_cls` any class that
/// is not negative is fine and becomes 0.
LabelFile parse_labels(std::string_view text, const std::string& file, int classes,
                       bool single_cls);

/// The labels beside an image; none when there is no such file. Throws `Error` when nobody can
/// tell, and as parse_labels() does.
LabelFile read_labels(const std::string& image_file, int classes, bool single_cls);

/// "0 0.5 0.5 0.25 0.25\n" per label.
std::string label_lines(const std::vector<Label>& labels);

}  // namespace evolve::data

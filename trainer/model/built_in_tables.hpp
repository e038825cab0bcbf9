// The model tables that are known by name: those of YOLOv5 v6, and yolov5p, half as wide as
// yolov5n.
#pragma once

#include <optional>
#include <string>

namespace evolve::trainer {

struct BuiltInTable {
  /// YAML: nc, anchors, backbone, head.
  const char* rows;
  double depth_multiple, width_multiple;
};

/// yolov5n, s, m, l, x and p, and n6, s6, m6, l6 and x6, which have a fourth level of stride 64.
/// Nothing for another name.
std::optional<BuiltInTable> built_in_table(const std::string& name);

}  // namespace evolve::trainer

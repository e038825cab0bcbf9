#include "trainer/model/built_in_tables.hpp"

namespace evolve::trainer {
namespace {

/// Three levels; the sizes differ in the multiples only.
constexpr const char* yolov5_v6 = R"(
nc: 80
anchors:
  - [10, 13, 16, 30, 33, 23]       # P3/8
  - [30, 61, 62, 45, 59, 119]      # P4/16
  - [116, 90, 156, 198, 373, 326]  # P5/32
backbone:
  - [-1, 1, Conv, [64, 6, 2, 2]]   # 0: P1/2
  - [-1, 1, Conv, [128, 3, 2]]     # 1: P2/4
  - [-1, 3, C3, [128]]
  - [-1, 1, Conv, [256, 3, 2]]     # 3: P3/8
  - [-1, 6, C3, [256]]
  - [-1, 1, Conv, [512, 3, 2]]     # 5: P4/16
  - [-1, 9, C3, [512]]
  - [-1, 1, Conv, [1024, 3, 2]]    # 7: P5/32
  - [-1, 3, C3, [1024]]
  - [-1, 1, SPPF, [1024, 5]]
head:
  - [-1, 1, Conv, [512, 1, 1]]     # 10
  - [-1, 1, nn.Upsample, [None, 2, nearest]]
  - [[-1, 6], 1, Concat, [1]]
  - [-1, 3, C3, [512, false]]
  - [-1, 1, Conv, [256, 1, 1]]     # 14
  - [-1, 1, nn.Upsample, [None, 2, nearest]]
  - [[-1, 4], 1, Concat, [1]]
  - [-1, 3, C3, [256, false]]      # 17: small objects
  - [-1, 1, Conv, [256, 3, 2]]
  - [[-1, 14], 1, Concat, [1]]
  - [-1, 3, C3, [512, false]]      # 20: middling ones
  - [-1, 1, Conv, [512, 3, 2]]
  - [[-1, 10], 1, Concat, [1]]
  - [-1, 3, C3, [1024, false]]     # 23: large ones
  - [[17, 20, 23], 1, Detect, [nc, anchors]]
)";

/// Four levels, for images of 1280 pixels.
constexpr const char* yolov5_v6_p6 = R"(
nc: 80
anchors:
  - [19, 27, 44, 40, 38, 94]           # P3/8
  - [96, 68, 86, 152, 180, 137]        # P4/16
  - [140, 301, 303, 264, 238, 542]     # P5/32
  - [436, 615, 739, 380, 925, 792]     # P6/64
backbone:
  - [-1, 1, Conv, [64, 6, 2, 2]]   # 0: P1/2
  - [-1, 1, Conv, [128, 3, 2]]     # 1: P2/4
  - [-1, 3, C3, [128]]
  - [-1, 1, Conv, [256, 3, 2]]     # 3: P3/8
  - [-1, 6, C3, [256]]
  - [-1, 1, Conv, [512, 3, 2]]     # 5: P4/16
  - [-1, 9, C3, [512]]
  - [-1, 1, Conv, [768, 3, 2]]     # 7: P5/32
  - [-1, 3, C3, [768]]
  - [-1, 1, Conv, [1024, 3, 2]]    # 9: P6/64
  - [-1, 3, C3, [1024]]
  - [-1, 1, SPPF, [1024, 5]]
head:
  - [-1, 1, Conv, [768, 1, 1]]     # 12
  - [-1, 1, nn.Upsample, [None, 2, nearest]]
  - [[-1, 8], 1, Concat, [1]]
  - [-1, 3, C3, [768, false]]
  - [-1, 1, Conv, [512, 1, 1]]     # 16
  - [-1, 1, nn.Upsample, [None, 2, nearest]]
  - [[-1, 6], 1, Concat, [1]]
  - [-1, 3, C3, [512, false]]
  - [-1, 1, Conv, [256, 1, 1]]     # 20
  - [-1, 1, nn.Upsample, [None, 2, nearest]]
  - [[-1, 4], 1, Concat, [1]]
  - [-1, 3, C3, [256, false]]      # 23: small objects
  - [-1, 1, Conv, [256, 3, 2]]
  - [[-1, 20], 1, Concat, [1]]
  - [-1, 3, C3, [512, false]]      # 26: middling ones
  - [-1, 1, Conv, [512, 3, 2]]
  - [[-1, 16], 1, Concat, [1]]
  - [-1, 3, C3, [768, false]]      # 29: large ones
  - [-1, 1, Conv, [768, 3, 2]]
  - [[-1, 12], 1, Concat, [1]]
  - [-1, 3, C3, [1024, false]]     # 32: very large ones
  - [[23, 26, 29, 32], 1, Detect, [nc, anchors]]
)";

}  // namespace

std::optional<BuiltInTable> built_in_table(const std::string& name) {
  struct Size {
    const char* letter;
    double depth_multiple, width_multiple;
    bool has_p6;
  };
  constexpr Size sizes[] = {{"n", 0.33, 0.25, true}, {"s", 0.33, 0.50, true},
                            {"m", 0.67, 0.75, true}, {"l", 1.0, 1.0, true},
                            {"x", 1.33, 1.25, true}, {"p", 0.33, 0.125, false}};
  for (const auto& [letter, depth, width, has_p6] : sizes) {
    const auto known = std::string("yolov5") + letter;
    if (name == known) return BuiltInTable{yolov5_v6, depth, width};
    if (has_p6 && name == known + "6") return BuiltInTable{yolov5_v6_p6, depth, width};
  }
  return {};
}

}  // namespace evolve::trainer

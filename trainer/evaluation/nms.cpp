#include "trainer/evaluation/nms.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "trainer/vector_loop.hpp"

namespace evolve::trainer {
namespace {

constexpr std::size_t max_candidates = 30000;
/// Further than any image is wide.
constexpr float class_distance = 7680;

/// A candidate as one integer: its confidence above, inverted so that ascending order is descending
/// confidence, and its index (row * nc + class) below. Sorting these is several times faster than
/// sorting structs.
using Key = std::uint64_t;

Key key_of(float conf, std::size_t index) {
  // The bits of positive floats are ordered as the floats are.
  return (Key{~std::bit_cast<std::uint32_t>(conf)} << 32) | static_cast<std::uint32_t>(index);
}
float conf_of(Key key) {
  return std::bit_cast<float>(~static_cast<std::uint32_t>(key >> 32));
}
std::size_t index_of(Key key) {
  return static_cast<std::uint32_t>(key);
}

std::vector<Key> candidates(std::span<const float> predictions, int nc, const NmsOptions& options) {
  const std::size_t width = 5 + static_cast<std::size_t>(nc);
  const std::size_t rows = predictions.size() / width;
  const auto threshold = static_cast<float>(options.conf);
  const bool multi_label = options.multi_label && nc > 1;
  std::vector<Key> keys;
  for (std::size_t row = 0; row < rows; ++row) {
    const float objectness = predictions[row * width + 4];
    if (!(objectness > threshold)) continue;
    const auto classes = predictions.subspan(row * width + 5, static_cast<std::size_t>(nc));
    const std::size_t first = row * classes.size();
    if (multi_label) {
      for (std::size_t cls = 0; cls < classes.size(); ++cls) {
        const float conf = classes[cls] * objectness;
        if (conf > threshold) keys.push_back(key_of(conf, first + cls));
      }
    } else {
      const auto best =
          std::ranges::max_element(classes, {}, [&](float p) { return p * objectness; });
      const float conf = *best * objectness;
      if (conf > threshold) {
        keys.push_back(key_of(conf, first + static_cast<std::size_t>(best - classes.begin())));
      }
    }
  }
  return keys;
}

constexpr std::size_t lanes = 16;

/// Kept boxes, with which the compiler makes vector instructions. Unused lanes hold an empty box at
/// the origin, which overlaps nothing: 0 / area is 0, and 0 / 0 is NaN, which is not greater than
/// anything.
struct Block {
  std::array<float, lanes> x1{}, y1{}, x2{}, y2{}, area{};
};

/// Whether the IoU of `box` with any of `blocks` is greater than `threshold`.
EVOLVE_VECTOR_LOOP
bool any_overlaps(std::span<const Block> blocks, const Box& box, float area, float threshold) {
  for (const Block& block : blocks) {
    std::int32_t any = 0;
    for (std::size_t i = 0; i < lanes; ++i) {
      const float w = std::min(box.x2, block.x2[i]) - std::max(box.x1, block.x1[i]);
      const float h = std::min(box.y2, block.y2[i]) - std::max(box.y1, block.y1[i]);
      const float inter = (w > 0 ? w : 0) * (h > 0 ? h : 0);
      any |= inter / (block.area[i] + area - inter) > threshold;
    }
    if (any != 0) return true;
  }
  return false;
}

/// The kept boxes of one class.
class KeptBoxes {
 public:
  void add(const Box& box, float area) {
    if (used_ == blocks_.size() * lanes) blocks_.emplace_back();
    Block& block = blocks_.back();
    const std::size_t lane = used_++ % lanes;
    block.x1[lane] = box.x1;
    block.y1[lane] = box.y1;
    block.x2[lane] = box.x2;
    block.y2[lane] = box.y2;
    block.area[lane] = area;
  }

  bool any_overlaps(const Box& box, float area, float threshold) const {
    return trainer::any_overlaps(blocks_, box, area, threshold);
  }

 private:
  std::vector<Block> blocks_;
  std::size_t used_ = 0;
};

/// The greatest float f such that (x > f) == (x > limit) for every float x.
float float_threshold(double limit) {
  const auto nearest = static_cast<float>(limit);
  if (nearest <= limit) return nearest;
  return std::nextafter(nearest, -std::numeric_limits<float>::infinity());
}

}  // namespace

std::vector<Detection> non_max_suppression(std::span<const float> predictions, int nc,
                                           const NmsOptions& options) {
  std::vector<Key> keys = candidates(predictions, nc, options);
  const std::size_t count = std::min(keys.size(), max_candidates);
  const float iou = float_threshold(options.iou);
  const auto classes = static_cast<std::size_t>(nc);
  std::vector<KeptBoxes> kept(options.agnostic ? 1 : classes);
  std::vector<Detection> detections;
  // libtorch sorts with std::sort too: by confidence alone, equals come out in its order.
  std::sort(keys.begin(), keys.end(), [](Key a, Key b) { return a >> 32 < b >> 32; });
  for (std::size_t i = 0; i < count && std::ssize(detections) < options.max_det; ++i) {
    const Key key = keys[i];
    const std::size_t cls = index_of(key) % classes;
    const float* row = &predictions[index_of(key) / classes * (5 + classes)];
    const Box box{row[0] - row[2] / 2, row[1] - row[3] / 2, row[0] + row[2] / 2,
                  row[1] + row[3] / 2};
    const float away = options.agnostic ? 0 : static_cast<float>(cls) * class_distance;
    const Box moved{box.x1 + away, box.y1 + away, box.x2 + away, box.y2 + away};
    const float area = (moved.x2 - moved.x1) * (moved.y2 - moved.y1);
    KeptBoxes& rivals = kept[options.agnostic ? 0 : cls];
    if (rivals.any_overlaps(moved, area, iou)) continue;
    rivals.add(moved, area);
    detections.push_back({.box = box, .conf = conf_of(key), .cls = static_cast<int>(cls)});
  }
  return detections;
}

}  // namespace evolve::trainer

// Model configurations: a table with its multiples applied, channels counted and references
// resolved.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "trainer/model/model_table.hpp"

namespace evolve::trainer {

/// Convolution, batch norm, SiLU.
struct ConvSpec {
  int in = 0, out = 0;
  int kernel = 1, stride = 1, padding = 0, groups = 1;
  bool operator==(const ConvSpec&) const = default;
};
/// A 1x1 Conv to `hidden` channels and a 3x3 one; adds its input when `shortcut` and in == out.
struct BottleneckSpec {
  int in = 0, hidden = 0, out = 0;
  bool shortcut = true;
  bool operator==(const BottleneckSpec&) const = default;
};
/// Cross-stage partial block with three 1x1 Convs around `repeats` bottlenecks of half the width,
/// which is that of their hidden channels too.
struct C3Spec {
  int in = 0, out = 0, repeats = 1;
  bool shortcut = true;
  bool operator==(const C3Spec&) const = default;
};
/// Spatial pyramid pooling: three stacked max pools of one kernel.
struct SppfSpec {
  int in = 0, out = 0, kernel = 5;
  bool operator==(const SppfSpec&) const = default;
};
/// Nearest neighbour.
struct UpsampleSpec {
  int factor = 2;
  bool operator==(const UpsampleSpec&) const = default;
};
/// Along the channels.
struct ConcatSpec {
  bool operator==(const ConcatSpec&) const = default;
};
/// P3 to P7: YOLOv5's loss has weights for no more.
constexpr int most_levels = 5;

/// One 1x1 convolution per level, of most_levels at most.
struct DetectSpec {
  /// Channels of each level's input.
  std::vector<int> in;
  bool operator==(const DetectSpec&) const = default;
};

using ModuleSpec =
    std::variant<ConvSpec, BottleneckSpec, C3Spec, SppfSpec, UpsampleSpec, ConcatSpec, DetectSpec>;

/// One layer of a model.
struct LayerSpec {
  /// Layers whose outputs it takes; -1 is the image.
  std::vector<int> from;
  /// Its modules, one after the other; more than one is named model.3.0, model.3.1, …
  std::vector<ModuleSpec> modules;
};

/// A model that can be built. The last layer, and no other, is a Detect.
struct ModelConfig {
  int nc = 80;
  /// Pixels; per level (width, height) pairs: as many as Detect has inputs. Their sizes go up where
  /// the strides do, whatever the order in the table.
  std::vector<std::vector<float>> anchors;
  /// Pixels per cell of each of Detect's inputs.
  std::vector<int> strides;
  /// Whether the anchors are placeholders that must be found from the data.
  bool anchors_unknown = false;
  std::vector<LayerSpec> layers;
  /// The table that the model was resolved from, with this number of classes.
  ModelTable table;

  int levels() const { return static_cast<int>(anchors.size()); }
  int anchors_per_level() const { return static_cast<int>(anchors.front().size() / 2); }
  /// Numbers per anchor: box, objectness, classes.
  int outputs() const { return 5 + nc; }
};

/// What the sides of images are multiples of: the greatest of Detect's strides, 32 at least.
/// YOLOv5's train.py does so too.
int image_stride(const ModelConfig& config);

/// Resolves a table as YOLOv5 does: widths are rounded up to a multiple of 8, a number n above 1
/// becomes max(round(n * depth_multiple), 1), half to even. `nc` replaces the table's number of
/// classes, `anchors_per_level` (the hyperparameter `anchors`) its anchors. Throws `Error` with
/// file and line.
ModelConfig resolve(const ModelTable& table, std::optional<int> nc = {},
                    std::optional<int> anchors_per_level = {});

/// The size of an image or of a map, in pixels or cells.
struct MapSize {
  std::int64_t ny = 0, nx = 0;
  bool operator==(const MapSize&) const = default;
};

/// The sizes of Detect's maps for images of a size, in its order.
std::vector<MapSize> map_sizes(const ModelConfig& config, MapSize images);

/// The number of a model's weights and biases, batch statistics not counted: 1.9e6 for yolov5n. A
/// table can ask for more than any integer holds.
double count_parameters(const ModelConfig& config);

/// Whether a tensor of this name could be of a layer that has weights: "model.0.conv.weight".
bool names_layer(const ModelConfig& config, const std::string& tensor);

/// How many of a model's layers have weights, and how many of these are, under the same number, the
/// same in another model: whose weights start there where the other's are given. Detect, whose
/// weights go by the number of classes, is not counted.
struct LayersAlike {
  int alike = 0, all = 0;
};
LayersAlike layers_alike(const ModelConfig& config, const ModelConfig& other);

}  // namespace evolve::trainer

#include "trainer/model/model_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <numeric>

#include "core/error.hpp"
#include "core/number.hpp"

namespace evolve::trainer {
namespace {

constexpr int image_channels = 3;
/// Far beyond any detector, far below what an int holds.
constexpr int most_channels = 1 << 20;
constexpr int greatest_stride = 1 << 16;
constexpr int most_repeats = 100;

constexpr const char* usual_padding =
    "pad a Conv by (kernel - 1) / 2, rounded down, and take odd kernels where its stride is 1";

/// Turns rows into layers, counting channels on the way.
class Resolver {
 public:
  Resolver(const ModelTable& table, ModelConfig& config) : table_(table), config_(config) {
    detect_channels_ =
        static_cast<int>(anchor_count(config) / 2) * config.outputs();  // see width()
  }

  void add(const TableRow& row) {
    row_ = &row;
    LayerSpec layer;
    for (const int from : row.from) layer.from.push_back(absolute(from));
    const int repeats = depth(row.number);
    layer.modules = modules(layer, repeats);
    if (out_ > most_channels) {
      throw error(row.module + " has " + std::to_string(out_) + " channels",
                  "write at most " + std::to_string(most_channels));
    }
    channels_.push_back(out_);
    scales_.push_back(scale(layer));
    if (row.module == "Detect") {
      for (const int from : layer.from) config_.strides.push_back(scale_of(from).stride);
      check_upsampled();
    }
    config_.layers.push_back(std::move(layer));
  }

 private:
  static std::size_t anchor_count(const ModelConfig& config) {
    return config.anchors.empty() ? 0 : config.anchors.front().size();
  }

  Error error(const std::string& what, const std::string& remedy) const {
    return bad_input({table_.file, row_->line}, what, remedy);
  }

  int absolute(int from) const {
    const int here = static_cast<int>(channels_.size());
    const int layer = from < 0 ? here + from : from;
    const bool is_image = layer == -1 && here == 0;
    if (!is_image && (layer < 0 || layer >= here)) {
      throw error("layer " + std::to_string(here) + " takes layer " + std::to_string(from),
                  "refer to an earlier layer");
    }
    return layer;
  }

  int in(int layer) const { return layer < 0 ? image_channels : channels_[layer]; }

  /// The image's side of n * stride pixels is a side of n + more cells.
  struct Scale {
    int stride = 1;
    std::int64_t more = 0;
  };
  /// Of an earlier layer or the image.
  Scale scale_of(int layer) const { return layer < 0 ? Scale() : scales_[layer]; }

  /// Of the layer under way.
  Scale scale(const LayerSpec& layer) const {
    auto scale = scale_of(layer.from.front());
    for (const ModuleSpec& module : layer.modules) {
      if (const auto* conv = std::get_if<ConvSpec>(&module)) {
        if (scale.stride > greatest_stride / conv->stride) {
          throw error("the stride is above " + std::to_string(greatest_stride),
                      "choose smaller ones");
        }
        scale.stride *= conv->stride;
        const double overhang =
            static_cast<double>(scale.more) + 2.0 * conv->padding - conv->kernel;
        scale.more = static_cast<std::int64_t>(std::floor(overhang / conv->stride)) + 1;
      }
      const auto* upsample = std::get_if<UpsampleSpec>(&module);
      if (upsample && scale.stride % upsample->factor != 0) {
        throw error("nn.Upsample makes images larger than they came", "choose a smaller factor");
      }
      if (upsample) scale = {scale.stride / upsample->factor, scale.more * upsample->factor};
      if (std::holds_alternative<ConcatSpec>(module)) check_alike(layer, scale);
      if (std::holds_alternative<DetectSpec>(module)) check_sides(layer);
    }
    return scale;
  }

  void check_alike(const LayerSpec& concat, const Scale& scale) const {
    for (const int from : concat.from) {
      const auto [stride, more] = scale_of(from);
      if (stride != scale.stride)
        throw error(fmt::format("Concat takes maps of stride {} and {}", scale.stride, stride),
                    "join layers of one size");
      if (more != scale.more)
        throw error(fmt::format("Concat takes maps whose sides differ by {}",
                                core::counted(std::abs(more - scale.more), "cell")),
                    usual_padding);
    }
  }

  /// Boxes are where strides say that cells are.
  void check_sides(const LayerSpec& detect) const {
    for (const int from : detect.from) {
      const auto more = scale_of(from).more;
      if (more != 0)
        throw error(
            fmt::format("Detect takes layer {}, whose sides are {} {} than its stride makes "
                        "them",
                        from, core::counted(std::abs(more), "cell"),
                        more > 0 ? "longer" : "shorter"),
            usual_padding);
    }
  }

  /// Of part of a cell nn.Upsample makes more cells than the maps have that it is joined with.
  void check_upsampled() const {
    const int images = image_stride(config_);
    for (const LayerSpec& layer : config_.layers) {
      const int stride = scale_of(layer.from.front()).stride;
      if (std::holds_alternative<UpsampleSpec>(layer.modules.front()) && images % stride != 0)
        throw error(fmt::format("nn.Upsample takes a map of stride {}, and the sides of images are "
                                "multiples of {}",
                                stride, images),
                    "let Detect take a map of that stride, too");
    }
  }

  /// A width that already equals Detect's output is not scaled, as in YOLOv5.
  int width(int channels) const {
    if (channels == detect_channels_) return channels;
    return static_cast<int>(std::ceil(channels * table_.width_multiple / 8)) * 8;
  }

  int depth(int number) const {
    if (number < 1) throw error("number is " + std::to_string(number), "write 1 or more");
    if (number == 1) return 1;
    const double repeats = std::nearbyint(number * table_.depth_multiple);
    if (repeats > most_repeats) {
      throw error("number is " + std::to_string(number),
                  "write at most " + std::to_string(most_repeats) + " / depth_multiple");
    }
    return std::max(static_cast<int>(repeats), 1);
  }

  const std::string* argument(std::size_t index) const {
    return index < row_->arguments.size() ? &row_->arguments[index] : nullptr;
  }

  void at_most(std::size_t count) const {
    if (row_->arguments.size() <= count) return;
    throw error(row_->module + " has " + std::to_string(row_->arguments.size()) + " arguments",
                "give it at most " + std::to_string(count));
  }

  int whole(std::size_t index, std::optional<int> fallback, const char* name, int low) const {
    const std::string* text = argument(index);
    if (!text || *text == "None") {
      if (fallback) return *fallback;
      throw error(row_->module + " has no " + name, "add it to its arguments");
    }
    const auto value = core::parse_integer<int>(*text);
    constexpr int high = 65536;
    if (!value || *value < low || *value > high) {
      throw error(row_->module + "'s " + name + " is '" + *text + "'",
                  fmt::format("write a whole number from {} to {}", low, high));
    }
    return *value;
  }

  bool flag(std::size_t index, const char* name) const {
    const std::string* text = argument(index);
    if (!text || *text == "True" || *text == "true") return true;
    if (*text == "False" || *text == "false") return false;
    throw error(row_->module + "'s " + name + " is '" + *text + "'", "write true or false");
  }

  std::vector<ModuleSpec> modules(const LayerSpec& layer, int repeats) {
    if (row_->module == "Concat") return {concat(layer)};
    if (row_->module == "Detect") return {detect(layer)};
    if (layer.from.size() != 1) {
      throw error(row_->module + " takes " + std::to_string(layer.from.size()) + " layers",
                  "give it one");
    }
    const int channels = in(layer.from.front());
    if (row_->module == "nn.Upsample") return {upsample(channels)};
    out_ = width(whole(0, {}, "number of channels", 1));
    if (row_->module == "C3") {
      at_most(2);
      return {C3Spec{channels, out_, repeats, flag(1, "shortcut")}};
    }
    std::vector<ModuleSpec> chain;
    for (int i = 0; i < repeats; ++i) chain.push_back(block(i == 0 ? channels : out_));
    return chain;
  }

  ModuleSpec block(int channels) const {
    if (row_->module == "Conv") return conv(channels);
    if (row_->module == "SPPF") {
      at_most(2);
      const SppfSpec spec{channels, out_, whole(1, 5, "kernel", 1)};
      if (spec.kernel % 2 == 0)
        throw error(
            fmt::format("SPPF's kernel is {}: it would join maps of different sizes", spec.kernel),
            "choose an odd one");
      return spec;
    }
    if (row_->module == "Bottleneck") {
      at_most(2);
      return BottleneckSpec{channels, out_ / 2, out_, flag(1, "shortcut")};
    }
    throw error("there is no module '" + row_->module + "'",
                "choose among Conv, C3, SPPF, Bottleneck, nn.Upsample, Concat, Detect");
  }

  ModuleSpec conv(int channels) const {
    at_most(5);
    ConvSpec spec{channels, out_};
    spec.kernel = whole(1, 1, "kernel", 1);
    spec.stride = whole(2, 1, "stride", 1);
    spec.padding = whole(3, spec.kernel / 2, "padding", 0);
    spec.groups = whole(4, 1, "number of groups", 1);
    if (spec.in % spec.groups != 0 || spec.out % spec.groups != 0) {
      throw error("Conv has " + std::to_string(spec.groups) + " groups for " +
                      std::to_string(spec.in) + " and " + std::to_string(spec.out) + " channels",
                  "choose a divisor of both");
    }
    return spec;
  }

  ModuleSpec upsample(int channels) {
    at_most(3);
    if (const std::string* mode = argument(2); mode && *mode != "nearest") {
      throw error("nn.Upsample's mode is '" + *mode + "'", "write nearest");
    }
    out_ = channels;
    return UpsampleSpec{whole(1, {}, "factor", 1)};
  }

  ModuleSpec concat(const LayerSpec& layer) {
    if (whole(0, 1, "dimension", 0) != 1) {
      throw error("Concat's dimension is " + *argument(0), "write 1, the channels");
    }
    out_ = std::accumulate(layer.from.begin(), layer.from.end(), 0, [this](int sum, int from) {
      return std::min(sum + in(from), most_channels + 1);
    });
    return ConcatSpec{};
  }

  ModuleSpec detect(const LayerSpec& layer) {
    if (row_->arguments != std::vector<std::string>{"nc", "anchors"}) {
      throw error("Detect's arguments are others than [nc, anchors]", "write [nc, anchors]");
    }
    if (row_ != &table_.rows.back()) throw error("Detect is not the last row", "move it there");
    if (layer.from.size() > most_levels) {
      throw error("Detect takes " + std::to_string(layer.from.size()) + " layers",
                  "write at most " + std::to_string(most_levels));
    }
    if (!config_.anchors_unknown && layer.from.size() != config_.anchors.size()) {
      throw bad_input({table_.file, table_.anchors_line},
                      "there are anchors for " + std::to_string(config_.anchors.size()) +
                          " levels and Detect takes " + std::to_string(layer.from.size()),
                      "write as many of the one as of the other");
    }
    if (config_.anchors_unknown) config_.anchors.resize(layer.from.size(), config_.anchors.front());
    DetectSpec spec;
    for (const int from : layer.from) spec.in.push_back(in(from));
    return spec;
  }

  const ModelTable& table_;
  ModelConfig& config_;
  const TableRow* row_ = nullptr;
  /// Scales and output channels of the layers so far, and channels of the one under way.
  std::vector<Scale> scales_;
  std::vector<int> channels_;
  int out_ = 0;
  int detect_channels_ = 0;
};

/// Placeholders 0, 1, 2, … as YOLOv5 writes them where only a count is known.
std::vector<float> placeholders(int count) {
  std::vector<float> anchors(2 * static_cast<std::size_t>(count));
  std::iota(anchors.begin(), anchors.end(), 0.F);
  return anchors;
}

float mean_area(const std::vector<float>& anchors) {
  float sum = 0;
  for (std::size_t i = 0; i + 1 < anchors.size(); i += 2) sum += anchors[i] * anchors[i + 1];
  return sum / (static_cast<float>(anchors.size()) / 2);
}

/// Turns the levels' anchors round where they go down while the strides go up.
void order_anchors(ModelConfig& config) {
  const float growth = mean_area(config.anchors.back()) - mean_area(config.anchors.front());
  const int step = config.strides.back() - config.strides.front();
  if (growth * static_cast<float>(step) < 0) {
    std::reverse(config.anchors.begin(), config.anchors.end());
  }
}

}  // namespace

ModelConfig resolve(const ModelTable& table, std::optional<int> nc,
                    std::optional<int> anchors_per_level) {
  ModelConfig config;
  config.nc = nc.value_or(table.nc);
  config.table = table;
  config.table.nc = config.nc;
  const int* table_count = std::get_if<int>(&table.anchors);
  if (anchors_per_level || table_count) {
    config.anchors_unknown = true;
    config.anchors = {placeholders(anchors_per_level ? *anchors_per_level : *table_count)};
  } else {
    config.anchors = std::get<std::vector<std::vector<float>>>(table.anchors);
  }
  if (table.rows.empty() || table.rows.back().module != "Detect") {
    throw bad_input({table.file, table.rows.empty() ? 0 : table.rows.back().line},
                    "the last row is not a Detect", "end the head with one");
  }
  Resolver resolver(table, config);
  for (const TableRow& row : table.rows) resolver.add(row);
  order_anchors(config);
  return config;
}

}  // namespace evolve::trainer

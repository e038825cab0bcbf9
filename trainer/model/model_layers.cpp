// What the layers of a model come to: parameters, the sizes of its maps, and which are others'.

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "trainer/model/model_config.hpp"
#include "trainer/options.hpp"

namespace evolve::trainer {
namespace {

/// With its batch norm.
double conv_parameters(double in, double out, double kernel, double groups = 1) {
  return in / groups * out * kernel * kernel + 2 * out;
}

double bottleneck_parameters(double in, double hidden, double out) {
  return conv_parameters(in, hidden, 1) + conv_parameters(hidden, out, 3);
}

double parameters(const ConvSpec& conv, const ModelConfig&) {
  return conv_parameters(conv.in, conv.out, conv.kernel, conv.groups);
}
double parameters(const BottleneckSpec& bottleneck, const ModelConfig&) {
  return bottleneck_parameters(bottleneck.in, bottleneck.hidden, bottleneck.out);
}
double parameters(const C3Spec& c3, const ModelConfig&) {
  const int hidden = c3.out / 2;
  return 2 * conv_parameters(c3.in, hidden, 1) + conv_parameters(2 * hidden, c3.out, 1) +
         c3.repeats * bottleneck_parameters(hidden, hidden, hidden);
}
double parameters(const SppfSpec& sppf, const ModelConfig&) {
  const int hidden = sppf.in / 2;
  return conv_parameters(sppf.in, hidden, 1) + conv_parameters(4 * hidden, sppf.out, 1);
}
double parameters(const UpsampleSpec&, const ModelConfig&) {
  return 0;
}
double parameters(const ConcatSpec&, const ModelConfig&) {
  return 0;
}
double parameters(const DetectSpec& detect, const ModelConfig& config) {
  const double out = static_cast<double>(config.anchors_per_level()) * config.outputs();
  return std::accumulate(detect.in.begin(), detect.in.end(), 0.0,
                         [out](double sum, int in) { return sum + (in + 1) * out; });
}

double parameters_of(const LayerSpec& layer, const ModelConfig& config) {
  double count = 0;
  for (const ModuleSpec& module : layer.modules)
    count += std::visit([&](const auto& spec) { return parameters(spec, config); }, module);
  return count;
}

/// The length of a map's side behind a module.
std::int64_t side_behind(const ModuleSpec& module, std::int64_t side) {
  if (const auto* conv = std::get_if<ConvSpec>(&module))
    return (side + 2 * conv->padding - conv->kernel) / conv->stride + 1;
  const auto* upsample = std::get_if<UpsampleSpec>(&module);
  return upsample ? side * upsample->factor : side;
}

}  // namespace

std::vector<MapSize> map_sizes(const ModelConfig& config, MapSize images) {
  std::vector<MapSize> sizes;
  const auto size_of = [&](int layer) {
    return layer < 0 ? images : sizes[static_cast<std::size_t>(layer)];
  };
  for (const LayerSpec& layer : config.layers) {
    MapSize size = size_of(layer.from.front());
    for (const ModuleSpec& module : layer.modules)
      size = {side_behind(module, size.ny), side_behind(module, size.nx)};
    sizes.push_back(size);
  }
  std::vector<MapSize> maps;
  for (const int from : config.layers.back().from) maps.push_back(size_of(from));
  return maps;
}

int image_stride(const ModelConfig& config) {
  return std::max(least_stride, *std::ranges::max_element(config.strides));
}

double count_parameters(const ModelConfig& config) {
  double count = 0;
  for (const LayerSpec& layer : config.layers) count += parameters_of(layer, config);
  return count;
}

bool names_layer(const ModelConfig& config, const std::string& tensor) {
  for (std::size_t i = 0; i < config.layers.size(); ++i) {
    if (tensor.starts_with("model." + std::to_string(i) + ".") &&
        parameters_of(config.layers[i], config) > 0)
      return true;
  }
  return false;
}

LayersAlike layers_alike(const ModelConfig& config, const ModelConfig& other) {
  LayersAlike found;
  for (std::size_t i = 0; i + 1 < config.layers.size(); ++i) {
    const auto& layer = config.layers[i];
    if (parameters_of(layer, config) == 0) continue;
    ++found.all;
    if (i < other.layers.size() && other.layers[i].modules == layer.modules) ++found.alike;
  }
  return found;
}

}  // namespace evolve::trainer

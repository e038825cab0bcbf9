#include "trainer/model/detector.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <torch/torch.h>

#include <cmath>

namespace evolve::trainer {
namespace {

std::shared_ptr<Block> make_block(const ModuleSpec& spec) {
  if (const auto* conv = std::get_if<ConvSpec>(&spec)) return std::make_shared<ConvBlock>(*conv);
  if (const auto* c3 = std::get_if<C3Spec>(&spec)) return std::make_shared<C3Block>(*c3);
  if (const auto* sppf = std::get_if<SppfSpec>(&spec)) return std::make_shared<SppfBlock>(*sppf);
  return std::make_shared<BottleneckBlock>(std::get<BottleneckSpec>(spec));
}

/// Whether each layer's output is taken by a layer that does not follow it directly.
std::vector<bool> find_kept(const ModelConfig& config) {
  std::vector<bool> kept(config.layers.size());
  for (std::size_t i = 0; i < config.layers.size(); ++i) {
    for (const int from : config.layers[i].from) {
      if (from >= 0 && static_cast<std::size_t>(from) + 1 != i) kept[from] = true;
    }
  }
  return kept;
}

torch::Tensor upsample(const torch::Tensor& x, int factor) {
  const auto scale = static_cast<double>(factor);
  return torch::upsample_nearest2d(x, {}, at::ArrayRef<double>({scale, scale}));
}

/// Cell indices (x, y) minus 0.5 for each cell: [ny, nx, 2].
torch::Tensor cell_corners(std::int64_t ny, std::int64_t nx, const torch::TensorOptions& options) {
  const auto y = torch::arange(ny, options).view({ny, 1}).expand({ny, nx});
  const auto x = torch::arange(nx, options).view({1, nx}).expand({ny, nx});
  return torch::stack({x, y}, 2) - 0.5;
}

}  // namespace

double first_objectness(int stride) {
  const double cells = 640.0 / stride;
  return std::log(8 / (cells * cells));
}

double first_class(int nc) {
  return std::log(0.6 / (nc - 0.99999));
}

Detector::Detector(const ModelConfig& config, std::uint64_t seed)
    : torch::nn::Module("Detector"), config_(config), kept_(find_kept(config)) {
  auto model = register_module("model", std::make_shared<torch::nn::Module>("Sequential"));
  for (std::size_t i = 0; i < config_.layers.size(); ++i) add_layer(*model, i);
  anchors_ = detect_->register_buffer(
      "anchors", torch::empty({config_.levels(), config_.anchors_per_level(), 2}));
  auto pixels = torch::empty_like(anchors_);
  for (int level = 0; level < config_.levels(); ++level) {
    pixels[level].copy_(torch::tensor(config_.anchors[level]).view({-1, 2}));
  }
  set_anchors(pixels);
  draw_weights(seed);
}

void Detector::add_layer(torch::nn::Module& model, std::size_t index) {
  const LayerSpec& spec = config_.layers[index];
  const std::string name = std::to_string(index);
  auto& blocks = blocks_.emplace_back();
  if (const auto* detect = std::get_if<DetectSpec>(&spec.modules.front())) {
    detect_ = model.register_module(name, std::make_shared<DetectBlock>(*detect, config_));
    return;
  }
  const auto& first = spec.modules.front();
  if (std::holds_alternative<UpsampleSpec>(first) || std::holds_alternative<ConcatSpec>(first)) {
    return;
  }
  for (const ModuleSpec& module : spec.modules) blocks.push_back(make_block(module));
  if (blocks.size() == 1) {
    model.register_module(name, blocks.front());
    return;
  }
  auto chain = model.register_module(name, std::make_shared<torch::nn::Module>("Sequential"));
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    chain->register_module(std::to_string(i), blocks[i]);
  }
}

void Detector::draw_weights(std::uint64_t seed) {
  torch::NoGradGuard no_grad;
  auto generator = at::detail::createCPUGenerator(seed);
  const auto bound = [](const torch::Tensor& weight) {
    return 1 / std::sqrt(static_cast<double>(weight[0].numel()));
  };
  for (auto& parameter : parameters()) {
    if (parameter.dim() != 4) continue;
    parameter.uniform_(-bound(parameter), bound(parameter), generator);
  }
  for (int level = 0; level < config_.levels(); ++level) {
    auto bias = detect_->bias[level].data();
    const double range = bound(detect_->weight[level]);
    bias.uniform_(-range, range, generator);
    auto per_anchor = bias.view({config_.anchors_per_level(), config_.outputs()});
    per_anchor.select(1, 4) += first_objectness(strides()[level]);
    per_anchor.slice(1, 5) += first_class(config_.nc);
  }
}

std::vector<torch::Tensor> Detector::forward(const torch::Tensor& images,
                                             const std::function<void()>& beat) {
  std::vector<torch::Tensor> outputs(config_.layers.size());
  const auto input = [&](int from) { return from < 0 ? images : outputs[from]; };
  const std::size_t last = config_.layers.size() - 1;
  for (std::size_t i = 0; i < last; ++i) {
    const LayerSpec& spec = config_.layers[i];
    torch::Tensor x = input(spec.from.front());
    if (const auto* up = std::get_if<UpsampleSpec>(&spec.modules.front())) {
      x = upsample(x, up->factor);
    } else if (std::holds_alternative<ConcatSpec>(spec.modules.front())) {
      std::vector<torch::Tensor> parts;
      for (const int from : spec.from) parts.push_back(input(from));
      x = torch::cat(parts, 1);
    }
    for (const auto& block : blocks_[i]) x = block->forward(x);
    beat();
    if (x.requires_grad()) x.register_hook([beat](const torch::Tensor&) { beat(); });
    outputs[i] = x;
    if (i > 0 && !kept_[i - 1]) outputs[i - 1].reset();
  }
  std::vector<torch::Tensor> maps;
  for (const int from : config_.layers[last].from) {
    const auto y = detect_->forward(maps.size(), input(from));
    const auto map =
        y.view({y.size(0), config_.anchors_per_level(), config_.outputs(), y.size(2), y.size(3)})
            .permute({0, 1, 3, 4, 2});
    // YOLOv5 moves its maps; the order in memory is the order in which their means are taken.
    maps.push_back(operators_ == Operators::plain ? map.contiguous() : map);
  }
  return maps;
}

torch::Tensor Detector::decode(const std::vector<torch::Tensor>& maps) const {
  std::vector<torch::Tensor> boxes;
  for (std::size_t level = 0; level < maps.size(); ++level) {
    const auto y = maps[level].sigmoid();
    const int stride = strides()[level];
    const auto corners = cell_corners(y.size(2), y.size(3), y.options());
    const auto sizes = (anchors_[static_cast<std::int64_t>(level)] * stride).view({1, -1, 1, 1, 2});
    const auto xy = (y.slice(4, 0, 2) * 2 + corners) * stride;
    const auto wh = (y.slice(4, 2, 4) * 2).square() * sizes;
    boxes.push_back(
        torch::cat({xy, wh, y.slice(4, 4)}, 4).reshape({y.size(0), -1, config_.outputs()}));
  }
  return torch::cat(boxes, 1);
}

void Detector::fuse() {
  eval();
  apply([](torch::nn::Module& module) {
    if (auto* conv = dynamic_cast<ConvBlock*>(&module)) conv->fuse();
  });
}

void Detector::use(Operators operators) {
  operators_ = operators;
  detect_->operators = operators;
  apply([operators](torch::nn::Module& module) {
    if (auto* conv = dynamic_cast<ConvBlock*>(&module)) conv->operators = operators;
  });
}

torch::Tensor Detector::anchors_in_pixels() const {
  return anchors_ * pixels_per_cell();
}

void Detector::set_anchors(const torch::Tensor& pixels) {
  anchors_.copy_(pixels.to(anchors_.device()) / pixels_per_cell());
}

torch::Tensor Detector::pixels_per_cell() const {
  return torch::tensor(config_.strides, anchors_.options()).view({-1, 1, 1});
}

}  // namespace evolve::trainer

#include "trainer/checkpoint/pretrained.hpp"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <map>

#include "core/error.hpp"

namespace evolve::trainer {
namespace {

/// How many numbers the tensors have; those that share a storage share its numbers.
double count_elements(const StateDict& state) {
  std::map<const void*, std::size_t> storages;
  for (const auto& [name, tensor] : state) {
    storages[tensor.storage().data()] = tensor.storage().nbytes() / tensor.itemsize();
  }
  double count = 0;
  for (const auto& [place, elements] : storages) count += static_cast<double>(elements);
  return count;
}

void check_size(const ModelConfig& config, const StateDict& state, const std::string& path) {
  const double wanted = count_parameters(config);
  const double there = count_elements(state);
  if (wanted <= there) return;
  throw bad_input({path},
                  fmt::format("its table has {:.0f} weights, the file {:.0f}", wanted, there),
                  "add --cfg with the table that it was trained with");
}

/// Gives the table the anchors that the weights were trained with, in pixels.
void take_anchors(ModelConfig& config, const StateDict& state, const std::string& path) {
  const std::string name = fmt::format("model.{}.anchors", config.layers.size() - 1);
  const auto found = std::ranges::find(state, name, &StateDict::value_type::first);
  const std::vector<std::int64_t> shape{config.levels(), config.anchors_per_level(), 2};
  if (found == state.end() || found->second.sizes() != shape) {
    throw bad_input(
        {path}, fmt::format("its {} are not the {} x {} of its table", name, shape[0], shape[1]),
        "add --cfg with the table that it was trained with");
  }
  const auto cells = found->second.to(torch::kFloat);
  for (std::size_t level = 0; level < config.anchors.size(); ++level) {
    const auto pixels = (cells[static_cast<std::int64_t>(level)] * config.strides[level]).flatten();
    const float* numbers = pixels.data_ptr<float>();
    config.anchors[level].assign(numbers, numbers + pixels.numel());
  }
  config.anchors_unknown = false;
}

}  // namespace

ModelConfig config_of(const Checkpoint& checkpoint, const std::string& path, std::optional<int> nc,
                      std::optional<int> anchors_per_level) {
  const ModelTable table = model_table_in(checkpoint.about, path);
  check_size(resolve(table), checkpoint.state, path);
  return config_of(table, checkpoint, path, nc, anchors_per_level);
}

ModelConfig config_of(const ModelTable& table, const Checkpoint& checkpoint,
                      const std::string& path, std::optional<int> nc,
                      std::optional<int> anchors_per_level) {
  check_alike(checkpoint.about, path);
  ModelConfig config = resolve(table, nc, anchors_per_level);
  if (!anchors_per_level) take_anchors(config, checkpoint.state, path);
  return config;
}

std::optional<int> classes_in(const Checkpoint& checkpoint, const ModelTable& table) {
  const ModelConfig config = resolve(table);
  const std::string name = fmt::format("model.{}.m.0.weight", config.layers.size() - 1);
  const auto found = std::ranges::find(checkpoint.state, name, &StateDict::value_type::first);
  if (found == checkpoint.state.end() || found->second.dim() == 0) return {};
  const auto outputs = found->second.size(0) / config.anchors_per_level();
  constexpr int of_each_box = 5;
  return outputs > of_each_box ? std::optional(static_cast<int>(outputs) - of_each_box)
                               : std::nullopt;
}

std::unique_ptr<Detector> detector_of(const Checkpoint& checkpoint, const std::string& path) {
  return detector_of(config_of(checkpoint, path), checkpoint, path);
}

std::unique_ptr<Detector> detector_of(const ModelConfig& config, const Checkpoint& checkpoint,
                                      const std::string& path) {
  auto detector = std::make_unique<Detector>(config, 0);
  const auto done = transfer(checkpoint.state, *detector, /*keep_anchors=*/false, path);
  if (done.transferred == done.total) return detector;
  throw bad_input({path},
                  fmt::format("{} of the {} tensors of its model are missing or have another shape",
                              done.total - done.transferred, done.total),
                  "give a file as a training writes it");
}

}  // namespace evolve::trainer

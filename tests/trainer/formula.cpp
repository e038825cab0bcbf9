#include "tests/trainer/formula.hpp"

#include <torch/torch.h>

#include <cmath>
#include <cstring>
#include <sstream>

#include "tests/trainer/golden.hpp"
#include "trainer/checkpoint/state_dict.hpp"

namespace evolve::test {
namespace {

/// Numbers in (-0.5, 0.5) that depend on the place only, as the reference cases spell them.
torch::Tensor noise(std::int64_t count, std::uint64_t step, std::uint64_t shift) {
  auto values = torch::empty(count, torch::kDouble);
  double* data = values.data_ptr<double>();
  for (std::int64_t j = 0; j < count; ++j) {
    data[j] = static_cast<double>((j * step + shift) & 0xffffffffU) / 4294967296.0 - 0.5;
  }
  return values;
}

bool ends_with(const std::string& text, const char* end) {
  return text.size() >= std::strlen(end) && text.rfind(end) == text.size() - std::strlen(end);
}

}  // namespace

trainer::Detector make(const std::string& table, std::optional<int> nc, std::uint64_t seed) {
  using namespace trainer;
  return Detector(resolve(read_model_table(table_path(table)), nc), seed);
}

void set_formula_weights(trainer::Detector& detector, std::uint64_t seed) {
  torch::NoGradGuard no_grad;
  std::uint64_t i = 0;
  for (auto& [name, tensor] : trainer::state_dict(detector)) {
    if (ends_with(name, ".anchors") || ends_with(name, ".num_batches_tracked")) continue;
    auto u = noise(tensor.numel(), 2654435761, i++ * 40503 + seed * 97);
    if (tensor.dim() == 4) {
      u *= 2 * std::sqrt(3.0) * 1.4 / std::sqrt(static_cast<double>(tensor[0].numel()));
    } else if (ends_with(name, "running_var")) {
      u = 1 + 0.5 * u;
    } else if (ends_with(name, "bn.weight")) {
      u = 1 + 0.4 * u;
    } else {
      u *= 0.2;
    }
    if (tensor.dim() == 1 && name.find(".m.") != std::string::npos && !ends_with(name, "bn.bias") &&
        ends_with(name, ".bias")) {
      u = u * 2 - 1;
    }
    tensor.copy_(u.view(tensor.sizes()));
  }
}

void see_boxes_everywhere(trainer::Detector& detector, double side, int cls, double confidence) {
  torch::NoGradGuard no_grad;
  constexpr double never = -20;
  detector.set_anchors(torch::full_like(detector.anchors(), side));
  auto parameters = detector.named_parameters();
  for (const auto* level : {"0", "1", "2"}) {
    const auto head = std::string("model.24.m.") + level;
    parameters[head + ".weight"].zero_();
    // Zeros are the centre of a cell and the size of an anchor.
    auto outputs = parameters[head + ".bias"].zero_().view({3, -1});
    outputs.slice(1, 4).fill_(never);
  }
  auto last = parameters["model.24.m.2.bias"].view({3, -1});
  last.select(1, 4).fill_(std::log(confidence / (1 - confidence)));
  last.select(1, 5 + cls).fill_(-never);
}

torch::Tensor formula_input(const std::vector<std::int64_t>& shape, std::uint64_t seed) {
  auto x = torch::empty(shape);
  return x.copy_((noise(x.numel(), 2246822519, seed * 7919) + 0.5).view(shape));
}

trainer::Detector formula_model(const std::string& description) {
  std::istringstream words(description);
  std::string word, table, classes, seed;
  words >> word >> word >> table >> classes >> word >> seed;
  trainer::Detector detector = make(table + ".yaml", std::stoi(classes.substr(2)));
  set_formula_weights(detector, std::stoull(seed));
  return detector;
}

std::vector<trainer::Target> targets_of(const torch::Tensor& rows) {
  std::vector<trainer::Target> targets;
  const auto values = rows.accessor<float, 2>();
  for (std::int64_t i = 0; i < values.size(0); ++i) {
    trainer::Target& target = targets.emplace_back();
    for (int j = 0; j < 6; ++j) target[static_cast<std::size_t>(j)] = values[i][j];
  }
  return targets;
}

trainer::LossOptions options_of(const nlohmann::json& hyp) {
  return {.box = hyp["box"],
          .cls = hyp["cls"],
          .obj = hyp["obj"],
          .cls_pw = hyp["cls_pw"],
          .obj_pw = hyp["obj_pw"],
          .anchor_t = hyp["anchor_t"],
          .fl_gamma = hyp["fl_gamma"],
          .label_smoothing = hyp.value("label_smoothing", 0.0)};
}

}  // namespace evolve::test

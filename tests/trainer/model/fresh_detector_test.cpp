#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tests/trainer/formula.hpp"
#include "tests/trainer/golden.hpp"
#include "trainer/checkpoint/state_dict.hpp"
#include "trainer/model/detector.hpp"

namespace evolve::trainer {
namespace {

using test::Golden;
using test::make;

/// Numbers as a case describes them and as we have them.
struct Statistics {
  explicit Statistics(const nlohmann::json& expected)
      : mean(expected["mean"]), std(expected["std"]), min(expected["min"]), max(expected["max"]) {}
  explicit Statistics(const torch::Tensor& tensor) {
    const auto x = tensor.detach().to(torch::kDouble);
    mean = x.mean().item<double>();
    std = x.numel() > 1 ? x.std().item<double>() : 0.0;
    min = x.min().item<double>();
    max = x.max().item<double>();
  }
  double mean, std, min, max;
};

/// `count` numbers drawn evenly from -bound to bound, but for one chance in 100,000.
void expect_uniform(const Statistics& s, double bound, std::int64_t count) {
  const double root = std::sqrt(static_cast<double>(count));
  const double deviation = bound / std::sqrt(3.0);
  EXPECT_NEAR(s.mean, 0, 4.5 * deviation / root);
  EXPECT_NEAR(s.std, deviation, 4.5 * deviation * std::sqrt(0.2) / root);
  EXPECT_GE(s.min, -bound * (1 + 1e-6));
  EXPECT_LE(s.max, bound * (1 + 1e-6));
  const double gap = std::min(24.0 / static_cast<double>(count), 1.0);
  EXPECT_LE(s.min, -bound * (1 - gap));
  EXPECT_GE(s.max, bound * (1 - gap));
}

/// A fresh model of the shapes that a case lists: its table by the first layer's width, its classes
/// by Detect's biases.
Detector fresh_model(const nlohmann::json& tensors) {
  const std::map<std::int64_t, std::string> tables{{8, "yolov5p.yaml"},  {16, "yolov5n.yaml"},
                                                   {32, "yolov5s.yaml"}, {48, "yolov5m.yaml"},
                                                   {64, "yolov5l.yaml"}, {80, "yolov5x.yaml"}};
  const auto table = tables.at(tensors["model.0.conv.weight"]["shape"][0]);
  const auto config = resolve(read_model_table(table));
  const std::string head = "model." + std::to_string(config.layers.size() - 1);
  const int outputs = tensors[head + ".m.0.bias"]["shape"][0];
  return make(table, outputs / config.anchors_per_level() - 5);
}

TEST(ParityFreshDetector, HasWeightsSpreadAsInYolov5) {
  GOLDENS_OR_SKIP(cases, "a_init_stats");
  for (const Golden& golden : cases) {
    const auto& tensors = golden.scalars["tensors"];
    const Detector detector = fresh_model(tensors);
    const auto state = state_dict(detector);
    EXPECT_EQ(state.size(), tensors.size());
    for (const auto& [name, tensor] : state) {
      SCOPED_TRACE(golden.name + " " + name);
      ASSERT_TRUE(tensors.contains(name));
      const auto& expected = tensors[name];
      ASSERT_EQ(tensor.sizes().vec(), expected["shape"].get<std::vector<std::int64_t>>());
      const Statistics ours(tensor), theirs(expected);
      if (tensor.dim() == 4) {
        const double bound = 1 / std::sqrt(static_cast<double>(tensor[0].numel()));
        expect_uniform(ours, bound, tensor.numel());
        expect_uniform(theirs, bound, tensor.numel());
      } else if (name.find(".m.") == std::string::npos || name.find(".bn.") != std::string::npos) {
        // Nothing drawn. YOLOv5's mean of equal numbers is rounded.
        EXPECT_FLOAT_EQ(ours.min, theirs.min);
        EXPECT_FLOAT_EQ(ours.max, theirs.max);
        EXPECT_NEAR(ours.mean, theirs.mean, 1e-6 * std::abs(theirs.mean));
        EXPECT_NEAR(ours.std, theirs.std, 1e-6);
      }
    }
  }
}

/// Detect's biases without what is added to them, [anchors, 5 + nc].
torch::Tensor drawn_biases(const Detector& detector, int level) {
  const auto& config = detector.config();
  const std::string head = "model." + std::to_string(config.layers.size() - 1);
  auto bias = detector.named_parameters()[head + ".m." + std::to_string(level) + ".bias"]
                  .detach()
                  .to(torch::kDouble)
                  .view({config.anchors_per_level(), config.outputs()});
  bias.select(1, 4) -= first_objectness(config.strides[static_cast<std::size_t>(level)]);
  bias.slice(1, 5) -= first_class(config.nc);
  return bias;
}

TEST(ParityFreshDetector, HasYolov5sBiases) {
  GOLDENS_OR_SKIP(cases, "a_init_stats");
  for (const Golden& golden : cases) {
    SCOPED_TRACE(golden.name);
    const auto& added = golden.scalars["detect_bias_add"];
    const auto& tensors = golden.scalars["tensors"];
    const Detector detector = fresh_model(tensors);
    const auto& config = detector.config();
    EXPECT_DOUBLE_EQ(first_class(config.nc), added["cls"].get<double>());
    for (int level = 0; level < config.levels(); ++level) {
      const double objectness = first_objectness(config.strides[static_cast<std::size_t>(level)]);
      EXPECT_DOUBLE_EQ(objectness, added["obj"][static_cast<std::size_t>(level)].get<double>());
      const std::string head =
          "model." + std::to_string(config.layers.size() - 1) + ".m." + std::to_string(level) + ".";
      const double fan_in = tensors[head + "weight"]["shape"][1];
      const auto drawn = drawn_biases(detector, level);
      const double bound = 1 / std::sqrt(fan_in);
      expect_uniform(Statistics(drawn), bound, drawn.numel());
      const Statistics theirs(tensors[head + "bias"]);
      EXPECT_NEAR(theirs.min, objectness, bound);
      EXPECT_NEAR(theirs.max, 0, bound);
    }
  }
}

TEST(FreshDetector, StartsAsAfterYolov5sStridePass) {
  const auto state = make("yolov5p.yaml").named_buffers();
  EXPECT_FLOAT_EQ(state["model.0.bn.running_var"].max().item<float>(), 0.9F);
  EXPECT_FLOAT_EQ(state["model.0.bn.running_var"].min().item<float>(), 0.9F);
  EXPECT_EQ(state["model.0.bn.running_mean"].abs().max().item<float>(), 0);
  EXPECT_EQ(state["model.0.bn.num_batches_tracked"].item<std::int64_t>(), 1);
}

TEST(FreshDetector, DrawsWeightsEvenlyWithinOneOverTheRootOfTheInputs) {
  const Detector detector = make("yolov5p.yaml");
  for (const auto& parameter : detector.parameters()) {
    if (parameter.dim() != 4) continue;
    const double bound = 1 / std::sqrt(static_cast<double>(parameter[0].numel()));
    expect_uniform(Statistics(parameter), bound, parameter.numel());
  }
}

TEST(FreshDetector, StartsItsBiasesForFewObjectsAndAnyClass) {
  EXPECT_DOUBLE_EQ(first_objectness(8), -6.684611727667927);  // YOLOv5's, as the next ones
  EXPECT_DOUBLE_EQ(first_objectness(32), -3.912023005428146);
  EXPECT_DOUBLE_EQ(first_class(3), -1.2039778043134362);
  const Detector detector = make("yolov5p.yaml");
  const auto drawn = drawn_biases(detector, 0);
  expect_uniform(Statistics(drawn), 1 / std::sqrt(32.0), drawn.numel());
}

TEST(FreshDetector, TakesClassesAndAnchorsFromOutsideItsTable) {
  const auto config = resolve(read_model_table("yolov5p.yaml"), 7, 5);
  Detector detector(config, 0);
  EXPECT_EQ(detector.anchors().sizes(), (std::vector<std::int64_t>{3, 5, 2}));
  const auto drawn = drawn_biases(detector, 2);
  EXPECT_EQ(drawn.sizes(), (std::vector<std::int64_t>{5, 12}));
  expect_uniform(Statistics(drawn), 1 / std::sqrt(128.0), drawn.numel());
  const auto maps = detector.forward(torch::rand({1, 3, 64, 64}));
  EXPECT_EQ(maps[1].sizes(), (std::vector<std::int64_t>{1, 5, 4, 4, 12}));
}

TEST(FreshDetector, DrawsItsWeightsFromTheSeedAlone) {
  const auto weight = [](std::uint64_t seed) {
    return make("yolov5p.yaml", 3, seed).parameters()[0].detach();
  };
  const auto first = weight(1);
  torch::rand({100});
  EXPECT_TRUE(torch::equal(first, weight(1)));
  EXPECT_FALSE(torch::equal(first, weight(2)));
}

TEST(FreshDetector, HasMapsOfTheSizesThatItsConfigTells) {
  const torch::NoGradGuard no_grad;
  auto detector = test::make("yolov5p.yaml");
  detector.eval();
  const auto maps = detector.forward(torch::zeros({1, 3, 96, 160}));
  std::vector<MapSize> sizes;
  for (const auto& map : maps) sizes.push_back({map.size(2), map.size(3)});
  EXPECT_EQ(sizes, map_sizes(detector.config(), {96, 160}));
}

}  // namespace
}  // namespace evolve::trainer

#include "trainer/detector.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "tests/trainer/formula.hpp"
#include "tests/trainer/golden.hpp"
#include "trainer/state.hpp"

namespace evolve::trainer {
namespace {

using test::formula_input;
using test::Golden;
using test::make;
using test::set_formula_weights;
using ::testing::ElementsAre;

/// What a comparison with a summary tolerates: of sums, and of single elements in units of their
/// root mean square.
struct Tolerance {
  double sums, elements;
};

void expect_summary(const nlohmann::json& expected, const torch::Tensor& tensor,
                    Tolerance tolerance, const std::string& what) {
  SCOPED_TRACE(what);
  const auto x = tensor.detach().to(torch::kDouble).contiguous();
  ASSERT_EQ(x.sizes().vec(), expected["shape"].get<std::vector<std::int64_t>>());
  const double scale = expected["abs_sum"].get<double>();
  EXPECT_NEAR(x.sum().item<double>(), expected["sum"].get<double>(), tolerance.sums * scale);
  EXPECT_NEAR(x.abs().sum().item<double>(), scale, tolerance.sums * scale);
  EXPECT_NEAR(x.square().sum().item<double>() / expected["sq_sum"].get<double>(), 1,
              2 * tolerance.sums);
  const auto flat = x.flatten();
  const double near = tolerance.elements * x.square().mean().sqrt().item<double>();
  for (std::int64_t i = 0; i < 8; ++i) {
    EXPECT_NEAR(flat[i].item<double>(), expected["first8"][i].get<double>(), near);
  }
  for (std::int64_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(flat[x.numel() - 4 + i].item<double>(), expected["last4"][i].get<double>(), near);
  }
}

void expect_formula_model(const std::string& name, const nlohmann::json& model) {
  SCOPED_TRACE(name);
  Detector detector = make(model["cfg"], model["nc"].get<int>());
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> keys;
  std::int64_t parameters = 0;
  for (const auto& [key, tensor] : state_dict(detector))
    keys.push_back({key, tensor.sizes().vec()});
  for (const auto& parameter : detector.parameters()) parameters += parameter.numel();
  EXPECT_EQ(keys, (model["state_dict_keys"]
                       .get<std::vector<std::pair<std::string, std::vector<std::int64_t>>>>()));
  EXPECT_EQ(parameters, model["params"].get<std::int64_t>());

  const auto x = formula_input(model["input_shape"], model["input_seed"]);
  set_formula_weights(detector, model["weight_seed"]);
  detector.eval();
  {
    torch::NoGradGuard no_grad;
    expect_summary(model["eval_decoded"], detector.decode(detector.forward(x)), {1e-5, 1e-4},
                   "evaluation");
  }
  // Statistics of so few pixels amplify rounding, YOLOv5's too: in double precision only YOLOv5's
  // remains.
  detector.train();
  const auto single = detector.forward(x);
  set_formula_weights(detector, model["weight_seed"]);
  detector.to(torch::kDouble);
  const auto maps = detector.forward(x.to(torch::kDouble));
  for (std::size_t level = 0; level < maps.size(); ++level) {
    const auto& expected = model["train"][level];
    expect_summary(expected, maps[level], {5e-4, 1e-2}, "training, level " + std::to_string(level));
    EXPECT_LT(test::relative_error(single[level], maps[level]), 2e-2);
  }
}

TEST(ParityDetector, FormulaWeightsGiveTheMapsOfYolov5) {
  GOLDENS_OR_SKIP(cases, "a_forward_formula");
  for (const Golden& golden : cases) {
    for (const auto& [name, model] : golden.scalars["models"].items()) {
      expect_formula_model(golden.name + "/" + name, model);
    }
  }
}

/// The table of a weights case: "yolov5p.yaml (depth .33 …)".
std::string table_of(const Golden& weights) {
  const std::string cfg = weights.scalars["cfg"];
  return cfg.substr(0, cfg.find(' '));
}

Detector with_weights(const Golden& weights) {
  const auto& last = weights.scalars.contains("nc") ? weights.scalars["nc"] : nlohmann::json();
  std::optional<int> nc = last.is_null() ? std::nullopt : std::optional<int>(last.get<int>());
  const auto config = resolve(read_model_table(test::table_path(table_of(weights))), nc);
  const int outputs = static_cast<int>(
      weights["model." + std::to_string(config.layers.size() - 1) + ".m.0.bias"].size(0));
  Detector detector = make(table_of(weights), outputs / config.anchors_per_level() - 5);
  torch::NoGradGuard no_grad;
  for (auto& [name, tensor] : state_dict(detector)) tensor.copy_(weights[name]);
  return detector;
}

TEST(ParityDetector, RealWeightsGiveTheMapsOfYolov5) {
  GOLDENS_OR_SKIP(cases, "a_forward_yolov5p");
  for (const Golden& golden : cases) {
    SCOPED_TRACE(golden.name);
    const Golden weights =
        test::load_golden(test::golden_folder() / golden.scalars["weights"].get<std::string>());
    const auto& x = golden["x"];
    Detector detector = with_weights(weights);
    detector.train();
    const auto maps = detector.forward(x);
    for (std::size_t level = 0; level < maps.size(); ++level) {
      EXPECT_LT(test::relative_error(maps[level], golden["train" + std::to_string(level)]), 1e-5);
    }
    const auto state = detector.named_buffers();
    for (const auto& [name, tensor] : golden.tensors) {
      if (name.rfind("after_train_fwd.", 0) != 0) continue;
      EXPECT_LT(test::relative_error(state[name.substr(16)], tensor), 1e-5) << name;
    }

    torch::NoGradGuard no_grad;
    Detector evaluated = with_weights(weights);
    evaluated.eval();
    const auto raw = evaluated.forward(x);
    for (std::size_t level = 0; level < raw.size(); ++level) {
      EXPECT_LT(test::relative_error(raw[level], golden["eval_raw" + std::to_string(level)]), 1e-5);
    }
    EXPECT_LT(test::relative_error(evaluated.decode(raw), golden["eval_decoded"]), 1e-5);
    evaluated.fuse();
    EXPECT_LT(
        test::relative_error(evaluated.decode(evaluated.forward(x)), golden["eval_decoded_fused"]),
        1e-5);
  }
}

/// Draws differ between generators; their range and spread may not.
void expect_like_reference(const torch::Tensor& tensor, const nlohmann::json& expected) {
  const auto x = tensor.detach().to(torch::kDouble);
  ASSERT_EQ(x.sizes().vec(), expected["shape"].get<std::vector<std::int64_t>>());
  const double std = expected["std"].get<double>();
  const double error = 6 * std / std::sqrt(static_cast<double>(x.numel())) + 1e-6;
  const double spread = x.numel() > 1 ? x.std().item<double>() : 0.0;
  EXPECT_NEAR(x.mean().item<double>(), expected["mean"].get<double>(), 1.5 * error);
  EXPECT_NEAR(spread, std, error);
  EXPECT_NEAR(x.min().item<double>(), expected["min"].get<double>(), 0.1 * std + error);
  EXPECT_NEAR(x.max().item<double>(), expected["max"].get<double>(), 0.1 * std + error);
}

TEST(ParityDetector, FreshWeightsAreSpreadAsInYolov5) {
  GOLDENS_OR_SKIP(cases, "a_init_stats");
  for (const Golden& golden : cases) {
    const auto& tensors = golden.scalars["tensors"];
    const auto weights = test::load_golden(test::golden_folder() / "a_weights_yolov5p");
    Detector detector = make(table_of(weights));
    for (const auto& [name, tensor] : state_dict(detector)) {
      SCOPED_TRACE(golden.name + " " + name);
      ASSERT_TRUE(tensors.contains(name));
      expect_like_reference(tensor, tensors[name]);
    }
  }
}

TEST(Detector, HasTheParametersOfYolov5) {
  Detector detector = make("yolov5n.yaml", 80);
  std::int64_t parameters = 0;
  for (const auto& parameter : detector.parameters()) parameters += parameter.numel();
  EXPECT_EQ(parameters, 1872157);
  const auto state = state_dict(detector);
  EXPECT_EQ(state.size(), 349u);
  EXPECT_EQ(state.front().first, "model.0.conv.weight");
  EXPECT_EQ(state.back().first, "model.24.m.2.bias");
  EXPECT_THAT(detector.strides(), ElementsAre(8, 16, 32));
}

TEST(Detector, GivesOneMapPerLevel) {
  Detector detector = make("yolov5p.yaml");
  const auto maps = detector.forward(torch::rand({2, 3, 64, 96}));
  ASSERT_EQ(maps.size(), 3u);
  EXPECT_EQ(maps[0].sizes(), (std::vector<std::int64_t>{2, 3, 8, 12, 8}));
  EXPECT_EQ(maps[2].sizes(), (std::vector<std::int64_t>{2, 3, 2, 3, 8}));
}

TEST(Detector, StartsAsAfterYolov5sStridePass) {
  Detector detector = make("yolov5p.yaml");
  const auto state = detector.named_buffers();
  EXPECT_FLOAT_EQ(state["model.0.bn.running_var"].max().item<float>(), 0.9F);
  EXPECT_EQ(state["model.0.bn.num_batches_tracked"].item<std::int64_t>(), 1);
  const auto bias = detector.named_parameters()["model.24.m.0.bias"].detach();
  const float bound = 1 / std::sqrt(32.F);  // of the level's 32 channels
  EXPECT_NEAR(bias[4].item<float>(), std::log(8 / 6400.0), bound);
  EXPECT_NEAR(bias[5].item<float>(), std::log(0.6 / 2.00001), bound);
}

TEST(Detector, DrawsItsWeightsFromTheSeedAlone) {
  const auto weight = [](std::uint64_t seed) {
    return make("yolov5p.yaml", 3, seed).parameters()[0].detach();
  };
  const auto first = weight(1);
  torch::rand({100});
  EXPECT_TRUE(torch::equal(first, weight(1)));
  EXPECT_FALSE(torch::equal(first, weight(2)));
}

TEST(Detector, DecodesACellAsYolov5) {
  Detector detector = make("yolov5p.yaml");
  std::vector<torch::Tensor> maps{torch::zeros({1, 3, 2, 3, 8}), torch::zeros({1, 3, 1, 1, 8}),
                                  torch::zeros({1, 3, 1, 1, 8})};
  maps[0][0][1][1][2][0] = 100;  // σ = 1
  const auto boxes = detector.decode(maps);
  EXPECT_EQ(boxes.sizes(), (std::vector<std::int64_t>{1, 24, 8}));
  const auto box = boxes[0][1 * 6 + 1 * 3 + 2];
  EXPECT_FLOAT_EQ(box[0].item<float>(), (2 - 0.5F + 2) * 8);
  EXPECT_FLOAT_EQ(box[1].item<float>(), (1 - 0.5F + 1) * 8);
  EXPECT_FLOAT_EQ(box[2].item<float>(), 16);  // the second anchor, 16 x 30
  EXPECT_FLOAT_EQ(box[3].item<float>(), 30);
  EXPECT_FLOAT_EQ(box[4].item<float>(), 0.5F);
}

TEST(Detector, GivesTheSameBoxesWhenFused) {
  Detector detector = make("yolov5p.yaml");
  torch::manual_seed(1);
  const auto x = torch::rand({2, 3, 64, 64});
  torch::NoGradGuard no_grad;
  detector.train();
  detector.forward(x);
  detector.eval();
  const auto before = detector.decode(detector.forward(x));
  detector.fuse();
  EXPECT_LT(test::relative_error(detector.decode(detector.forward(x)), before), 1e-6);
}

TEST(Detector, KeepsAnchorsInCells) {
  Detector detector = make("yolov5p.yaml");
  EXPECT_FLOAT_EQ(detector.anchors()[1][0][0].item<float>(), 30.F / 16);
  detector.set_anchors(torch::full({3, 3, 2}, 64.F));
  EXPECT_FLOAT_EQ(detector.anchors()[2][1][1].item<float>(), 2);
}

}  // namespace
}  // namespace evolve::trainer

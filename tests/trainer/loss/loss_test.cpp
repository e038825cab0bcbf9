#include "trainer/loss/loss.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "tests/trainer/bound_of.hpp"
#include "tests/trainer/formula.hpp"
#include "tests/trainer/golden.hpp"
#include "tests/trainer/rounding.hpp"
#include "tests/trainer/threads.hpp"
#include "trainer/model/detector.hpp"

namespace evolve::trainer {
namespace {

using test::formula_model;
using test::Golden;
using test::options_of;
using test::relative_error;
using test::targets_of;
using test::Threads;

constexpr double tolerance = 1e-5;
/// Of what has gone through the whole model and back.
const double tolerance_of_gradients = test::bound_of(1e-5, 5e-4);

void expect_items(const LossValue& loss, const nlohmann::json& expected) {
  const std::vector<std::string> names{"lbox", "lobj", "lcls"};
  for (std::size_t i = 0; i < 3; ++i) {
    const double value = expected[names[i]];
    EXPECT_NEAR(loss.items[static_cast<std::int64_t>(i)].item<double>(), value,
                tolerance * std::abs(value))
        << names[i];
  }
  const double total = expected["total"];
  EXPECT_NEAR(loss.total.item<double>(), total, tolerance * total);
}

void expect_variant(const Golden& golden, const std::string& name, const nlohmann::json& variant,
                    Operators operators) {
  SCOPED_TRACE(golden.name + " " + name + (operators == Operators::plain ? " plain" : " fast"));
  const std::string stem = name.substr(0, name.rfind('_'));
  const bool one_class = stem == "nc1";
  auto targets = targets_of(golden["targets"]);
  if (name.ends_with("_empty")) targets.clear();
  std::vector<torch::Tensor> maps;
  for (int level = 0; golden.tensors.contains("pred" + std::to_string(level)); ++level) {
    auto map = golden["pred" + std::to_string(level)];
    if (one_class) map = map.slice(4, 0, 6);
    maps.push_back(map.clone().requires_grad_());
  }
  if (one_class) {
    for (Target& target : targets) target[1] = 0;
  }
  Loss loss(options_of(variant["hyp"]), golden["anchors_grid"]);
  loss.use(operators);
  const LossValue value = loss(maps, targets);
  expect_items(value, variant);
  value.total.backward();
  for (std::size_t level = 0; level < maps.size(); ++level) {
    const auto& gradient = maps[level].grad();
    const double norm = variant["grad_norm"][level];
    EXPECT_NEAR(gradient.norm().item<double>(), norm, tolerance * norm);
    const auto expected = golden.tensors.find(stem + ".grad" + std::to_string(level));
    if (expected == golden.tensors.end() || targets.empty()) continue;
    EXPECT_LT(relative_error(gradient, expected->second), tolerance) << level;
  }
}

TEST(ParityLoss, ValuesAndGradientsAreYolov5s) {
  GOLDENS_OR_SKIP(cases, "b_loss");
  for (const Golden& golden : cases) {
    for (const auto& [name, variant] : golden.scalars["variants"].items()) {
      expect_variant(golden, name, variant, Operators::fast);
      expect_variant(golden, name, variant, Operators::plain);
    }
  }
}

std::vector<std::array<float, 2>> anchors_of(const torch::Tensor& level) {
  std::vector<std::array<float, 2>> anchors;
  for (std::int64_t a = 0; a < level.size(0); ++a) {
    anchors.push_back({level[a][0].item<float>(), level[a][1].item<float>()});
  }
  return anchors;
}

void expect_matches(const Golden& golden, const std::string& prefix,
                    const std::vector<Match>& matches) {
  const auto& classes = golden[prefix + "tcls"];
  const auto& boxes = golden[prefix + "tbox"];
  const auto& places = golden[prefix + "b_a_gj_gi"];
  ASSERT_EQ(static_cast<std::int64_t>(matches.size()), classes.size(0));
  for (std::int64_t i = 0; i < classes.size(0); ++i) {
    const Match& m = matches[static_cast<std::size_t>(i)];
    EXPECT_EQ(m.cls, classes[i].item<std::int64_t>());
    EXPECT_EQ((std::array{m.image, m.anchor, m.y, m.x}),
              (std::array{places[0][i].item<std::int64_t>(), places[1][i].item<std::int64_t>(),
                          places[2][i].item<std::int64_t>(), places[3][i].item<std::int64_t>()}));
    for (std::int64_t j = 0; j < 4; ++j) {
      EXPECT_FLOAT_EQ(m.box[static_cast<std::size_t>(j)], boxes[i][j].item<float>());
    }
  }
}

TEST(ParityLoss, MatchesAreYolov5sInItsOrder) {
  GOLDENS_OR_SKIP(cases, "b_loss");
  int compared = 0;
  for (const Golden& golden : cases) {
    const auto targets = targets_of(golden["targets"]);
    for (const auto& [name, variant] : golden.scalars["variants"].items()) {
      if (!name.ends_with("_full")) continue;
      const std::string stem = name.substr(0, name.rfind('_'));
      for (int level = 0; level < golden["anchors_grid"].size(0); ++level) {
        const std::string prefix = stem + ".l" + std::to_string(level) + ".";
        if (!golden.tensors.contains(prefix + "tcls")) continue;
        SCOPED_TRACE(golden.name + " " + prefix);
        const auto& map = golden["pred" + std::to_string(level)];
        expect_matches(golden, prefix,
                       assign(targets, anchors_of(golden["anchors_grid"][level]),
                              {map.size(2), map.size(3)}, variant["hyp"]["anchor_t"]));
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 0);
}

TEST(ParityLoss, CompleteIouAndItsGradientAreYolov5s) {
  GOLDENS_OR_SKIP(cases, "b_loss");
  for (const Golden& golden : cases) {
    SCOPED_TRACE(golden.name);
    const auto boxes = golden["ciou.b1"].clone().requires_grad_();
    const auto iou = complete_iou(boxes, golden["ciou.b2"]);
    EXPECT_LT(relative_error(iou, golden["ciou.val"]), tolerance);
    iou.sum().backward();
    EXPECT_LT(relative_error(boxes.grad(), golden["ciou.grad_b1"]), tolerance);
  }
}

/// Loss and gradients of a case's model.
LossValue backpropagate(Detector& detector, const torch::Tensor& images, const Golden& golden) {
  const Loss loss(options_of(golden.scalars["hyp"]), detector.anchors());
  const auto value = loss(detector.forward(images), targets_of(golden["targets"]));
  value.total.backward();
  return value;
}

torch::Tensor whole_gradient(const Detector& detector) {
  std::vector<torch::Tensor> gradients;
  for (const auto& parameter : detector.parameters()) {
    gradients.push_back(parameter.grad().to(torch::kDouble).flatten());
  }
  return torch::cat(gradients);
}

/// The names of a case's recorded gradients.
std::vector<std::string> recorded_gradients(const Golden& golden) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : golden.tensors) {
    if (name.starts_with("grad.")) names.push_back(name.substr(5));
  }
  return names;
}

TEST(ParityLoss, ReachesEveryWeightAsInYolov5) {
  GOLDENS_OR_SKIP(cases, "b_backprop");
  const Threads one(1);
  for (const Golden& golden : cases) {
    SCOPED_TRACE(golden.name);
    Detector detector = formula_model(golden.scalars["weights"]);
    detector.use(Operators::plain);
    expect_items(backpropagate(detector, golden["x"], golden), golden.scalars);
    const auto parameters = detector.named_parameters();
    for (const auto& [name, expected] : golden.scalars["grad_norm"].items()) {
      const double norm = expected;
      EXPECT_NEAR(parameters[name].grad().norm().item<double>(), norm,
                  tolerance_of_gradients * norm)
          << name;
    }
    const double total = golden.scalars["total_grad_norm"];
    EXPECT_NEAR(whole_gradient(detector).norm().item<double>(), total,
                tolerance_of_gradients * total);
    for (const std::string& name : recorded_gradients(golden)) {
      EXPECT_LT(relative_error(parameters[name].grad(), golden["grad." + name]),
                tolerance_of_gradients)
          << name;
    }
  }
}

/// See Detector's test of the same name. YOLOv5's own gradients are 1e-4 from double precision
/// here.
TEST(ParityLoss, FastOperatorsAreAsNearToTheExactGradientsAsYolov5) {
  GOLDENS_OR_SKIP(cases, "b_backprop");
  for (const Golden& golden : cases) {
    SCOPED_TRACE(golden.name);
    const auto names = recorded_gradients(golden);
    const test::Computation computation{
        [&] { return formula_model(golden.scalars["weights"]); }, golden["x"],
        [&](Detector& detector, const torch::Tensor& images) {
          const auto value = backpropagate(detector, images, golden);
          std::vector<torch::Tensor> results{value.items, whole_gradient(detector)};
          const auto parameters = detector.named_parameters();
          for (const auto& name : names) results.push_back(parameters[name].grad());
          return results;
        }};
    const auto fast = test::rounding_errors(computation, Operators::fast);
    const auto scale = test::rounding_scale(computation);
    for (std::size_t i = 0; i < fast.size(); ++i) {
      EXPECT_LT(fast[i], std::max(tolerance, 4 * scale[i])) << (i < 2 ? "loss" : names[i - 2]);
    }
  }
}

/// Maps of zeros for one image, one anchor of 2 x 2 cells per level.
std::vector<torch::Tensor> flat_maps(std::int64_t outputs) {
  std::vector<torch::Tensor> maps;
  for (const std::int64_t n : {4, 2, 1}) {
    maps.push_back(torch::zeros({1, 1, n, n, outputs}).requires_grad_());
  }
  return maps;
}

TEST(Loss, HasWeightsForFiveLevelsAtMost) {
  EXPECT_NO_THROW(Loss({}, torch::ones({most_levels, 3, 2})));
  EXPECT_THROW(Loss({}, torch::ones({most_levels + 1, 3, 2})), c10::Error);
}

TEST(Loss, IsPureObjectnessWithoutObjects) {
  const Loss loss({.box = 1, .cls = 1, .obj = 1}, torch::full({3, 1, 2}, 2.F));
  const auto value = loss(flat_maps(7), std::vector<Target>{});
  EXPECT_FLOAT_EQ(value.items[0].item<float>(), 0);
  EXPECT_NEAR(value.items[1].item<double>(), std::log(2.0) * 5.4, 1e-6);  // balance 4 + 1 + 0.4
  EXPECT_FLOAT_EQ(value.items[2].item<float>(), 0);
  EXPECT_NEAR(value.total.item<double>(), std::log(2.0) * 5.4, 1e-6);
}

TEST(Loss, WeighsTheObjectnessOfOtherNumbersOfLevelsThanThreeByWeightsOfTheirOwn) {
  for (const auto& [levels, sum] : {std::pair(1, 4.0), {2, 5.0}, {4, 5.31}, {5, 5.33}}) {
    Loss loss({.box = 1, .cls = 1, .obj = 1}, torch::full({levels, 1, 2}, 2.F));
    const std::vector<torch::Tensor> maps(std::size_t(levels), flat_maps(7).front());
    for (const auto operators : {Operators::fast, Operators::plain}) {
      loss.use(operators);
      const auto items = loss(maps, std::vector<Target>{}).items;
      EXPECT_NEAR(items[1].item<double>(), std::log(2.0) * sum, 2e-6) << levels;
    }
  }
}

TEST(Loss, AveragesClassesOverTheMatchesOfALevelAndAddsTheLevels) {
  // 0.5 x 0.5 of the image is 2, 1 and 0.5 cells: within the factor 4 of every level's anchor of
  // 2 cells but the last, where it is exactly 4.
  const Loss loss({.box = 1, .cls = 1, .obj = 1}, torch::full({3, 1, 2}, 2.F));
  const auto value = loss(flat_maps(7), {{0, 1, 1.5F / 4, 1.5F / 4, 0.5F, 0.5F}});
  EXPECT_NEAR(value.items[2].item<double>(), 2 * std::log(2.0), 1e-6);
}

TEST(Loss, AsksForThePredictedBoxsIouAsObjectness) {
  // At zero a map predicts its anchor in the middle of the cell: exactly this object in level 0.
  const Loss loss({.box = 0, .cls = 0, .obj = 1}, torch::full({3, 1, 2}, 2.F));
  auto maps = flat_maps(6);
  loss(maps, {{0, 0, 1.5F / 4, 1.5F / 4, 0.5F, 0.5F}}).total.backward();
  EXPECT_NEAR(maps[0].grad()[0][0][1][1][4].item<double>(), (0.5 - 1) * 4 / 16, 1e-6);
  EXPECT_NEAR(maps[0].grad()[0][0][0][0][4].item<double>(), 0.5 * 4 / 16, 1e-6);
}

TEST(Loss, LetsTheLastObjectOfACellDecideItsObjectness) {
  const Loss loss({.box = 0, .cls = 0, .obj = 1}, torch::full({3, 1, 2}, 2.F));
  const Target exact{0, 0, 1.5F / 4, 1.5F / 4, 0.5F, 0.5F};
  const Target poor{0, 0, 1.5F / 4, 1.5F / 4, 0.9F, 0.2F};
  const auto gradient = [&](const std::vector<Target>& targets) {
    auto maps = flat_maps(6);
    loss(maps, targets).total.backward();
    return maps[0].grad()[0][0][1][1][4].item<float>();
  };
  EXPECT_FLOAT_EQ(gradient({poor, exact}), gradient({exact}));
  EXPECT_FLOAT_EQ(gradient({exact, poor}), gradient({poor}));
  EXPECT_NE(gradient({exact}), gradient({poor}));
}

/// Maps of random numbers in channels-last memory, as Detect makes them, and objects in them.
struct RandomCase {
  std::vector<torch::Tensor> maps;
  std::vector<Target> targets;
};

RandomCase random_case(std::int64_t outputs) {
  torch::manual_seed(1);
  RandomCase out;
  for (const std::int64_t n : {8, 4, 2}) {
    const auto map = torch::randn({2, n, n, 3, outputs}) * 3;
    out.maps.push_back(map.permute({0, 3, 1, 2, 4}).detach().requires_grad_());
  }
  for (const float cls : {0.F, 1.F, 2.F, 1.F})
    out.targets.push_back({cls > 1 ? 1.F : 0.F, cls, 0.2F + cls / 4, 0.45F, 0.2F + cls / 8, 0.3F});
  return out;
}

/// Items and the maps' gradients, of the loss times two.
std::vector<torch::Tensor> loss_and_gradients(const LossOptions& options, Operators operators) {
  auto [maps, targets] = random_case(8);
  Loss loss(options,
            torch::tensor({1.F, 2.F, 2.F, 1.F, 1.5F, 1.5F}).view({1, 3, 2}).repeat({3, 1, 1}));
  loss.use(operators);
  const auto value = loss(maps, targets);
  (value.total * 2).backward();
  std::vector<torch::Tensor> results{value.items, value.total.detach()};
  for (const auto& map : maps) results.push_back(map.grad());
  return results;
}

TEST(Loss, InOnePassIsThatOfTorchsOperators) {
  for (const LossOptions& options :
       {LossOptions{}, LossOptions{.cls_pw = 0.6, .obj_pw = 1.7, .label_smoothing = 0.2},
        LossOptions{.fl_gamma = 1.5}, LossOptions{.cls_pw = 2, .fl_gamma = 0.5}}) {
    const auto fast = loss_and_gradients(options, Operators::fast);
    const auto plain = loss_and_gradients(options, Operators::plain);
    for (std::size_t i = 0; i < plain.size(); ++i)
      EXPECT_LT(relative_error(fast[i], plain[i]), tolerance) << i;
  }
}

TEST(Loss, IsPlainWithAFocalPowerBelowZero) {
  const auto plain = loss_and_gradients({}, Operators::fast);
  for (const auto operators : {Operators::fast, Operators::plain}) {
    const auto below = loss_and_gradients({.fl_gamma = -0.5}, operators);
    for (std::size_t i = 0; i < plain.size(); ++i)
      EXPECT_LT(relative_error(below[i], plain[i]), tolerance) << i;
  }
}

TEST(Loss, WithoutGradientIsTheSame) {
  auto [maps, targets] = random_case(8);
  const Loss loss({}, torch::full({3, 3, 2}, 2.F));
  const auto with = loss(maps, targets).items;
  const torch::NoGradGuard no_gradients;
  EXPECT_TRUE(loss(maps, targets).items.equal(with));
}

TEST(Loss, WithAFocalPowerBelowOneHasAGradientWhereNoDoubtIsLeft) {
  const Loss loss({.box = 0, .cls = 0, .obj = 1, .fl_gamma = 0.5}, torch::full({3, 1, 2}, 2.F));
  for (const double sure : {-20.0, -200.0, 20.0, 200.0}) {
    auto maps = flat_maps(6);
    for (auto& map : maps) map.detach().select(4, 4).fill_(sure);
    const auto value = loss(maps, {{0, 0, 1.5F / 4, 1.5F / 4, 0.5F, 0.5F}});
    EXPECT_TRUE(value.total.isfinite().item<bool>()) << sure;
    value.total.backward();
    EXPECT_TRUE(maps[0].grad().isfinite().all().item<bool>()) << sure;
  }
}

TEST(Loss, ScalesItsGainsToClassesLevelsAndImages) {
  const auto config = resolve(read_model_table("yolov5p.yaml"), 3);
  const hyp::Hyperparameters hyp{{"box", 0.05},   {"cls", 0.5},      {"cls_pw", 1.0},  {"obj", 1.0},
                                 {"obj_pw", 1.0}, {"anchor_t", 4.0}, {"fl_gamma", 0.0}};
  const LossOptions options = loss_options(hyp, config, 64, 0.1);
  EXPECT_DOUBLE_EQ(options.box, 0.05);
  EXPECT_DOUBLE_EQ(options.cls, 0.5 * 3 / 80);
  EXPECT_DOUBLE_EQ(options.obj, 0.01);
  EXPECT_DOUBLE_EQ(options.label_smoothing, 0.1);
}

TEST(CompleteIou, OfABoxWithItselfIsOne) {
  const auto box = torch::tensor({{3.F, 4.F, 2.F, 5.F}});
  EXPECT_NEAR(complete_iou(box, box).item<double>(), 1, 1e-6);
}

TEST(CompleteIou, OfABoxWithoutSidesIsANumberWhereNoGradientIsWanted) {
  const torch::NoGradGuard no_gradients;
  const auto none = torch::tensor({{1.F, 1.F, 0.F, 0.F}});
  const auto box = torch::tensor({{1.F, 1.F, 2.F, 2.F}});
  // Neither overlap nor distance; atan 0 for atan 1 is a quarter of the greatest difference, v.
  const double v = 0.25, iou = 0;
  EXPECT_NEAR(complete_iou(none, box).item<double>(), iou - v * v / (v - iou + 1), 1e-6);
}

TEST(CompleteIou, PunishesDistanceBeyondOverlap) {
  const auto a = torch::tensor({{0.F, 0.F, 2.F, 2.F}});
  const auto b = torch::tensor({{4.F, 0.F, 2.F, 2.F}});
  EXPECT_NEAR(complete_iou(a, b).item<double>(), -16.0 / 40, 1e-6);
}

}  // namespace
}  // namespace evolve::trainer

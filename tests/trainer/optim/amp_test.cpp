#include "trainer/optim/amp.hpp"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/files.hpp"
#include "tests/trainer/formula.hpp"
#include "trainer/device/torch_version.hpp"
#include "trainer/optim/train_step.hpp"

namespace evolve::trainer {
namespace {

data::Batch noise() {
  data::Batch batch{.size = 2, .height = 64, .width = 64};
  for (int i = 0; i < 2 * 3 * 64 * 64; ++i) {
    batch.pixels.push_back(static_cast<std::uint8_t>((i * 2654435761U) >> 24));
  }
  return batch;
}

TEST(Autocast, ComputesConvolutionsInTheGivenTypeWhileItLives) {
  auto detector = test::make("yolov5p.yaml");
  detector.use(Operators::plain);  // torch's
  detector.eval();
  const torch::NoGradGuard no_grad;
  const auto x = torch::rand({1, 3, 64, 64});
  {
    const Autocast autocast(torch::kCPU, torch::kBFloat16);
    EXPECT_EQ(detector.forward(x)[0].scalar_type(), torch::kBFloat16);
  }
  EXPECT_EQ(detector.forward(x)[0].scalar_type(), torch::kFloat);
  const Autocast none(torch::kCPU, torch::kFloat);
  EXPECT_EQ(detector.forward(x)[0].scalar_type(), torch::kFloat);
}

TEST(MixedPrecision, OnTheCpuIsThatOfTheMapsBeforeTheBoxesAndOfNoWeight) {
  auto detector = test::make("yolov5p.yaml");
  detector.train();
  const auto x = torch::rand({16, 3, 64, 64});
  auto maps = forward_in(torch::kBFloat16, detector, x);
  for (const auto& map : maps) EXPECT_EQ(map.scalar_type(), torch::kFloat);
  EXPECT_FALSE(torch::equal(maps[0], maps[0].to(torch::kBFloat16).to(torch::kFloat)));
  maps[0].sum().backward();
  for (const auto& weight : detector.parameters()) {
    EXPECT_EQ(weight.scalar_type(), torch::kFloat);
    if (const auto gradient = weight.grad(); gradient.defined()) {
      EXPECT_EQ(gradient.scalar_type(), torch::kFloat);
    }
  }
}

TEST(MixedPrecision, IsComparedWithSinglePrecisionAndChangesNothing) {
  auto detector = test::make("yolov5p.yaml");
  detector.train();
  const auto mean = detector.named_buffers()["model.0.bn.running_mean"].clone();
  const double difference = difference_in(torch::kBFloat16, detector, noise());
  EXPECT_GT(difference, 0);
  EXPECT_LT(difference, 0.01);
  EXPECT_TRUE(detector.is_training());
  EXPECT_TRUE(torch::equal(detector.named_buffers()["model.0.bn.running_mean"], mean));
}

TEST(MixedPrecision, DiffersByNoNumberWhereItOverflows) {
  auto detector = test::make("yolov5p.yaml");
  {
    // Products of 1e37 have a sum in single precision, while a weight of 3.4e38 is rounded up to
    // infinity in bfloat16.
    const torch::NoGradGuard no_grad;
    detector.named_parameters()["model.0.conv.weight"].fill_(std::numeric_limits<float>::max());
    detector.named_buffers()["model.0.bn.running_var"].fill_(std::numeric_limits<float>::max());
  }
  data::Batch black = noise();
  std::fill(black.pixels.begin(), black.pixels.end(), 0);
  EXPECT_TRUE(std::isnan(difference_in(torch::kBFloat16, detector, black)));
}

/// Whether /proc/cpuinfo has these words.
bool cpu_has(std::initializer_list<const char*> words) {
  const auto text = test::read_file("/proc/cpuinfo");
  return std::ranges::all_of(words, [&](const char* word) { return text.find(word) != text.npos; });
}

TEST(MixedPrecision, IsOfTheTypeThatADeviceIsFastIn) {
  const bool fast = cpu_has({"AuthenticAMD", "avx512_bf16"}) || cpu_has({"amx_bf16"});
  EXPECT_EQ(fast_type(torch::kCPU), fast ? torch::kBFloat16 : torch::kFloat);
  EXPECT_EQ(fast_type(torch::kCUDA), torch::kHalf);
  EXPECT_EQ(fast_type(torch::kXPU), torch::kBFloat16);
}

const auto finite = torch::tensor(true), overflow = torch::tensor(false);

TEST(GradScaler, HalvesItsScaleAfterAnOverflowAndLeavesTheStepOut) {
  GradScaler scaler(torch::kHalf);
  EXPECT_EQ(scaler.state().scale, 65536);
  scaler.update(overflow);
  EXPECT_EQ(scaler.state().scale, 32768);
  scaler.update(overflow);
  EXPECT_EQ(scaler.state().scale, 16384);
  scaler.update(finite);
  EXPECT_EQ(scaler.state().scale, 16384);
  EXPECT_EQ(scaler.take_left_out(), 2);
  EXPECT_EQ(scaler.take_left_out(), 0);
}

TEST(GradScaler, DoublesItsScaleAfter2000StepsInARow) {
  GradScaler scaler(torch::kHalf);
  for (int i = 0; i < 1999; ++i) scaler.update(finite);
  EXPECT_EQ(scaler.state().scale, 65536);
  scaler.update(finite);
  EXPECT_EQ(scaler.state().scale, 131072);
  EXPECT_EQ(scaler.state().good_steps, 0);
}

TEST(GradScaler, ScalesHalfPrecisionOnlyAndGuards16Bits) {
  const auto loss = torch::ones({});
  for (const auto type : {torch::kFloat, torch::kBFloat16}) {
    GradScaler scaler(type);
    EXPECT_EQ(scaler.scaled(loss).item<float>(), 1);
    scaler.update(overflow);
    EXPECT_EQ(scaler.state().scale, 1);
    EXPECT_EQ(scaler.guards(), type == torch::kBFloat16);
  }
  EXPECT_EQ(GradScaler(torch::kHalf).scaled(loss).item<float>(), 65536);
}

struct OneWeight : torch::nn::Module {
  OneWeight() { register_parameter("weight", torch::ones({1, 1})); }
};

double after_a_step(GradScaler scaler, double gradient) {
  OneWeight model;
  FlatParameters state(model, torch::kCPU);
  TrainStep step(state, {.lr0 = 0.5, .warmup_iterations = 0}, Algorithm::sgd, 0, scaler);
  state.gradients().fill_(gradient).copy_(step.scaled(state.gradients()));
  step.end_iteration(5);
  return state.values()[0].item<double>();
}

TEST(GradScaler, MakesTheSameStepAsWithoutIt) {
  EXPECT_EQ(after_a_step(GradScaler(torch::kHalf), 0.25),
            after_a_step(GradScaler(torch::kFloat), 0.25));
  EXPECT_NE(after_a_step(GradScaler(torch::kHalf), 0.25), 1);
}

TEST(GradScaler, KeepsTheWeightsWhenGradientsOverflow) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(after_a_step(GradScaler(torch::kHalf), infinity), 1);
  EXPECT_EQ(after_a_step(GradScaler(torch::kBFloat16), infinity), 1);
}

/// The weight after two batches: one with the gradient `first` and no step due, after which 16 bits
/// are given up, and one with a quarter and a step.
double after_giving_up(torch::ScalarType type, double first) {
  OneWeight model;
  FlatParameters state(model, torch::kCPU);
  TrainStep step(state, {.batches = 100, .lr0 = 0.5, .warmup_iterations = 0}, Algorithm::sgd, 0,
                 GradScaler(type));
  state.gradients().fill_(first).copy_(step.scaled(state.gradients()));
  EXPECT_FALSE(step.end_iteration(2).stepped);  // after four batches one is
  step.give_up_16_bits();
  EXPECT_EQ(step.precision(), torch::kFloat);
  state.gradients().add_(0.25);
  EXPECT_TRUE(step.end_iteration(3).stepped);
  return state.values()[0].item<double>();
}

TEST(TrainStep, ForgetsGradientsOf16BitsThatItGivesUp) {
  const double expected = after_giving_up(torch::kFloat, 0);
  EXPECT_LT(expected, 1);
  for (const auto type : {torch::kHalf, torch::kBFloat16}) {
    EXPECT_EQ(after_giving_up(type, 0.125), expected) << type << ", finite";
    EXPECT_EQ(after_giving_up(type, std::nan("")), expected) << type << ", not finite";
  }
}

TEST(TrainStep, CountsAStepThatWasLeftOutAsNone) {
  OneWeight model, other;
  FlatParameters state(model, torch::kCPU), others(other, torch::kCPU);
  const Schedule schedule{.lr0 = 0.5, .warmup_iterations = 0};
  TrainStep step(state, schedule, Algorithm::adam, 0, GradScaler(torch::kHalf)),
      without(others, schedule, Algorithm::adam, 0);
  const auto iterate = [](FlatParameters& parameters, TrainStep& each, int i, double gradient) {
    parameters.gradients().fill_(gradient).copy_(each.scaled(parameters.gradients()));
    each.end_iteration(i);
  };
  iterate(state, step, 3, std::numeric_limits<double>::infinity());
  EXPECT_EQ(step.take_left_out(), 1);
  EXPECT_EQ(step.state().optimizer.steps, 0);
  for (const int i : {7, 11}) {
    iterate(state, step, i, 0.25);
    iterate(others, without, i, 0.25);
  }
  EXPECT_EQ(step.state().optimizer.steps, 2);
  EXPECT_TRUE(torch::equal(state.parameters(), others.parameters()));
}

}  // namespace
}  // namespace evolve::trainer

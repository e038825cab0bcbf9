#include "trainer/optim/train_step.hpp"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "tests/trainer/formula.hpp"
#include "tests/trainer/optim/tiny.hpp"
#include "trainer/optim/flat_parameters.hpp"

namespace evolve::trainer {
namespace {

using test::Tiny;

TEST(TrainStep, GoesOnFromAStateAsIfNothingHadHappened) {
  torch::manual_seed(1);
  const auto images = torch::rand({4, 2, 3, 64, 64});
  const auto iterate = [&](Detector& detector, TrainStep& step, int i) {
    detector.forward(images[i])[0].square().mean().backward();
    step.end_iteration(i);
  };
  const Schedule schedule{.batches = 4, .batch_size = 64, .warmup_iterations = 1};
  for (const auto algorithm : {Algorithm::sgd, Algorithm::adamw}) {
    Detector one = test::make("yolov5p.yaml", 1), other = test::make("yolov5p.yaml", 1, 9);
    FlatParameters ones(one, torch::kCPU), others(other, torch::kCPU);
    TrainStep first(ones, schedule, algorithm, 0.1), second(others, schedule, algorithm, 0.1);
    iterate(one, first, 0);
    iterate(one, first, 1);
    others.unpack(ones.packed(ones.values()), others.values());
    second.load_state(first.state());
    for (int i = 2; i < 4; ++i) {
      iterate(one, first, i);
      iterate(other, second, i);
    }
    EXPECT_TRUE(torch::equal(ones.values(), others.values()));
    EXPECT_TRUE(torch::equal(first.ema().values(), second.ema().values()));
  }
}

TEST(TrainStep, DropsAPartialAccumulationWhenAnEpochBegins) {
  Tiny model;
  FlatParameters state(model, torch::kCPU);
  TrainStep step(state, {.batches = 3, .warmup_iterations = 1}, Algorithm::sgd, 0);
  EXPECT_TRUE(step.end_iteration(0).stepped);
  EXPECT_FALSE(step.end_iteration(2).stepped);
  state.gradients().fill_(1);
  step.begin_epoch(3);
  EXPECT_EQ(state.gradients().abs().sum().item<float>(), 0);
  EXPECT_TRUE(step.end_iteration(4).stepped);
}

TEST(TrainStep, StepsAtOnceInEpochsOfFewerIterationsThanThoseBefore) {
  Tiny model;
  FlatParameters state(model, torch::kCPU);
  TrainStep step(state, {.batches = 3, .warmup_iterations = 1}, Algorithm::sgd, 0);
  EXPECT_TRUE(step.end_iteration(40).stepped);
  step.begin_epoch(20);  // ten epochs of four iterations, then of two
  EXPECT_FALSE(step.end_iteration(20).stepped);
  EXPECT_FALSE(step.end_iteration(22).stepped);
  EXPECT_TRUE(step.end_iteration(23).stepped);
}

TEST(TrainStep, ClipsGradientsToANormOfTen) {
  Tiny model;
  FlatParameters state(model, torch::kCPU);
  state.unpack(torch::tensor({30.F, 40.F, 0.F}), state.gradients());
  EXPECT_FLOAT_EQ(clip_gradients(state, 10).item<float>(), 50);
  EXPECT_NEAR(state.gradients()[0].item<double>(), 6, 1e-5);
  EXPECT_FLOAT_EQ(clip_gradients(state, 20).item<float>(), 10);
}

}  // namespace
}  // namespace evolve::trainer

#include "trainer/optim/flat_parameters.hpp"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cstdint>
#include <vector>

#include "tests/trainer/formula.hpp"
#include "tests/trainer/optim/tiny.hpp"
#include "trainer/optim/train_step.hpp"

namespace evolve::trainer {
namespace {

using test::Tiny;

TEST(FlatParameters, HoldsTheModelsOwnNumbers) {
  Detector detector = test::make("yolov5p.yaml");
  const auto before = detector.named_parameters()["model.1.conv.weight"].detach().clone();
  FlatParameters state(detector, torch::kCPU);
  auto weight = detector.named_parameters()["model.1.conv.weight"];
  EXPECT_TRUE(torch::equal(weight.detach(), before));
  EXPECT_TRUE(weight.is_contiguous(at::MemoryFormat::ChannelsLast));
  state.values().zero_();
  EXPECT_EQ(weight.abs().sum().item<float>(), 0);
}

TEST(FlatParameters, AddUpTheGradientsOfSeveralBackwardPasses) {
  Tiny model;
  FlatParameters state(model, torch::kCPU);
  for (int pass = 0; pass < 2; ++pass) {
    (3 * model.named_parameters()["weight"] + 2 * model.named_parameters()["bn.bias"])
        .sum()
        .backward();
    state.collect_gradients();
  }
  for (const auto& parameter : model.parameters()) EXPECT_FALSE(parameter.grad().defined());
  EXPECT_TRUE(torch::equal(state.packed(state.gradients()), torch::tensor({4.F, 6.F, 0.F})));
}

TEST(FlatParameters, LaysWeightsOutAsAsked) {
  Detector detector = test::make("yolov5p.yaml");
  const auto before = detector.named_parameters()["model.0.conv.weight"].detach().clone();
  const FlatParameters state(detector, torch::kCPU, at::MemoryFormat::Contiguous);
  const auto weight = detector.named_parameters()["model.0.conv.weight"];
  EXPECT_TRUE(weight.is_contiguous());
  EXPECT_TRUE(torch::equal(weight.detach(), before));
}

TEST(FlatParameters, LeavesFrozenParametersOutOfEveryGroup) {
  Tiny model;
  model.parameters()[0].set_requires_grad(false);
  FlatParameters state(model, torch::kCPU);
  EXPECT_EQ(state.packed(state.gradients()).numel(), 2);
  const auto values = state.packed(state.values());
  EXPECT_EQ(values.numel(), 4);
  EXPECT_EQ(values[3].item<float>(), 7);
}

std::vector<torch::Tensor> all_tensors(const torch::nn::Module& model) {
  auto tensors = model.buffers();
  for (const auto& parameter : model.parameters()) tensors.push_back(parameter);
  return tensors;
}

TEST(FlatParameters, BeginEveryTensorAtAMultipleOf64Bytes) {
  Detector detector = test::make("yolov5p.yaml", 1);  // 18 outputs: sizes are not multiples of 16
  FlatParameters parameters(detector, torch::kCPU);
  const auto expect_aligned = [&] {
    auto tensors = all_tensors(detector);
    for (const auto& gradient : parameters.gradients_of_parameters()) tensors.push_back(gradient);
    for (const auto& tensor : tensors) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.data_ptr()) % 64, 0U) << tensor.sizes();
    }
  };
  expect_aligned();
  const auto saved = parameters.packed(parameters.values());
  parameters.unpack(saved, parameters.values());
  expect_aligned();
}

/// The numbers of a flat tensor that belong to no tensor of the model.
torch::Tensor padding_of(const FlatParameters& parameters, const torch::Tensor& flat) {
  const auto mask = torch::zeros_like(flat);
  parameters.unpack(torch::ones_like(parameters.packed(flat)), mask);
  return flat.masked_select(mask == 0);
}

TEST(FlatParameters, KeepTheirPaddingAtZeroAndOutOfWhatIsSaved) {
  for (const auto algorithm : {Algorithm::sgd, Algorithm::adam, Algorithm::adamw}) {
    Detector detector = test::make("yolov5p.yaml", 1);
    std::int64_t numbers = 0;
    for (const auto& parameter : detector.parameters()) numbers += parameter.numel();
    FlatParameters parameters(detector, torch::kCPU);
    TrainStep step(parameters, {.batches = 3, .warmup_iterations = 1}, algorithm, 0.1);
    for (int i = 0; i < 3; ++i) {
      detector.forward(torch::rand({2, 3, 64, 64}))[0].square().sum().backward();
      step.end_iteration(2 * i);
    }
    EXPECT_GT(padding_of(parameters, parameters.values()).numel(), 0);
    EXPECT_EQ(padding_of(parameters, parameters.values()).count_nonzero().item<int>(), 0);
    EXPECT_EQ(padding_of(parameters, step.ema().values()).count_nonzero().item<int>(), 0);
    EXPECT_EQ(parameters.packed(parameters.gradients()).numel(), numbers);
    EXPECT_EQ(step.state().optimizer.first.numel(), numbers);
  }
}

}  // namespace
}  // namespace evolve::trainer

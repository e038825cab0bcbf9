#include "trainer/optim/optimizer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <cstdint>

#include "core/error.hpp"
#include "tests/trainer/bound_of.hpp"
#include "tests/trainer/formula.hpp"
#include "tests/trainer/golden.hpp"
#include "tests/trainer/threads.hpp"
#include "trainer/loss/loss.hpp"
#include "trainer/optim/flat_parameters.hpp"
#include "trainer/optim/train_step.hpp"

namespace evolve::trainer {
namespace {

// Of the weights, the loss and the norm of the gradients.
const double tolerance = test::bound_of(1e-5, 2e-4);
const double tolerance_of_loss = test::bound_of(1e-5, 0.005);
const double tolerance_of_gradient = test::bound_of(1e-5, 0.06);

using test::Golden;
using test::relative_error;

/// One run of a case: train.py's loop on three fixed batches, with torch's operators in torch's
/// memory layout. The loop is chaotic, in YOLOv5 as here: a change of 1e-7 in the weights makes one
/// of 1e-3 in the loss within six steps. So this holds because every operation between two
/// iterations rounds as YOLOv5's does: model, loss, clipping and step. It asks for the same torch
/// on a processor with the same vector instructions; elsewhere numbers are compared for four steps,
/// in which rounding has grown to a fiftieth of the gradients, and settings for all of them.
class Replay {
 public:
  Replay(const Golden& golden, const std::string& name)
      : golden_(golden),
        name_(name),
        run_(golden.scalars["runs"][name]),
        algorithm_(algorithm_of(name.substr(0, name.find('_')))),
        detector_(test::formula_model(golden.scalars["weights"])),
        state_(detector_, torch::kCPU, at::MemoryFormat::Contiguous),
        loss_(test::options_of(run_["hyp"]), detector_.anchors()),
        step_(state_, schedule(), algorithm_, run_["hyp"]["weight_decay"]) {
    detector_.use(Operators::plain);
    loss_.use(Operators::plain);
  }

  void compare() {
    const int batches = golden_.scalars["nb"];
    int steps = 0;
    for (const auto& row : run_["log"]) {
      const int iteration = row["ni"];
      SCOPED_TRACE("iteration " + std::to_string(iteration));
      if (iteration % batches == 0) step_.begin_epoch(iteration);
      const bool comparable = steps < 3 || test::rounds_as_the_reference();
      const auto report = iterate(iteration, row, comparable);
      compare_settings(report, row);
      if (report.stepped && comparable) compare_step(report, row);
      steps += report.stepped;
    }
    if (test::rounds_as_the_reference()) compare_tensors();
  }

 private:
  Schedule schedule() const {
    const auto& hyp = run_["hyp"];
    return {.epochs = run_["epochs"],
            .batches = golden_.scalars["nb"],
            .batch_size = golden_.scalars["batch_size"],
            .cosine = run_["cos"],
            .lr0 = run_["lr0"],
            .lrf = hyp["lrf"],
            .momentum = hyp["momentum"],
            .warmup_iterations = run_["nw"],
            .warmup_momentum = hyp["warmup_momentum"],
            .warmup_bias_lr = hyp["warmup_bias_lr"]};
  }

  static void near(double value, const nlohmann::json& expected, const std::string& what,
                   double bound = tolerance) {
    EXPECT_NEAR(value, expected.get<double>(), bound * std::abs(expected.get<double>())) << what;
  }
  static double norm(const torch::Tensor& tensor) {
    return tensor.detach().to(torch::kDouble).norm().item<double>();
  }

  TrainStep::Report iterate(int iteration, const nlohmann::json& row, bool comparable) {
    const int batch = iteration % golden_.scalars["nb"].get<int>();
    const auto pixels = golden_["batch_u8"][batch].to(torch::kFloat) / 255;
    const auto value = loss_(detector_.forward(pixels),
                             test::targets_of(golden_["targets" + std::to_string(batch)]));
    if (comparable) compare_loss(value, row);
    value.total.backward();
    return step_.end_iteration(iteration);
  }

  static void compare_loss(const LossValue& value, const nlohmann::json& row) {
    near(value.total.item<double>(), row["loss"], "loss", tolerance_of_loss);
    for (std::int64_t i = 0; i < 3; ++i) {
      near(value.items[i].item<double>(), row["items"][static_cast<std::size_t>(i)], "items",
           tolerance_of_loss);
    }
  }

  void compare_settings(const TrainStep::Report& report, const nlohmann::json& row) const {
    for (std::size_t g = 0; g < group_count; ++g) {
      EXPECT_NEAR(report.settings.learning_rate[g], row["lr"][g].get<double>(), 1e-9);
      if (algorithm_ != Algorithm::sgd) continue;
      EXPECT_NEAR(report.settings.momentum, row["momentum"][g].get<double>(), 1e-9);
    }
    EXPECT_EQ(report.settings.accumulate, row["accumulate"].get<double>());
    EXPECT_EQ(report.stepped, row["step"].get<bool>());
  }

  void compare_step(const TrainStep::Report& report, const nlohmann::json& row) {
    near(report.gradient_norm.item<double>(), row["grad_norm_preclip"], "gradient",
         tolerance_of_gradient);
    near(norm(state_.parameters()), row["param_norm"], "parameters");
    near(norm(state_.values()), row["state_norm"], "state");
    near(norm(step_.ema().values()), row["ema_state_norm"], "mean");
    EXPECT_NEAR(Ema::decay(row["ema_updates"]), row["ema_d"].get<double>(), 1e-9);
    for (const auto& [name, expected] : row["tensor_norms"].items()) {
      near(norm(tensor(name)), expected, name);
    }
  }

  torch::Tensor tensor(const std::string& name) {
    const auto parameters = detector_.named_parameters();
    const auto* parameter = parameters.find(name);
    return parameter ? parameter->detach() : detector_.named_buffers()[name];
  }

  void compare_tensors() {
    expect("final");
    torch::NoGradGuard no_grad;
    state_.values().copy_(step_.ema().values());
    expect("ema");
  }

  void expect(const std::string& kind) {
    const std::string prefix = name_ + "." + kind + ".";
    int compared = 0;
    for (const auto& [name, expected] : golden_.tensors) {
      if (!name.starts_with(prefix)) continue;
      EXPECT_LT(relative_error(tensor(name.substr(prefix.size())), expected), tolerance) << name;
      ++compared;
    }
    EXPECT_GT(compared, 0) << prefix;
  }

  const Golden& golden_;
  std::string name_;
  const nlohmann::json& run_;
  Algorithm algorithm_;
  Detector detector_;
  FlatParameters state_;
  Loss loss_;
  TrainStep step_;
};

TEST(ParityOptimizer, TrainsStepByStepAsYolov5) {
  GOLDENS_OR_SKIP(cases, "c_optim");
  const test::Threads one(1);
  for (const Golden& golden : cases) {
    for (const auto& [name, run] : golden.scalars["runs"].items()) {
      SCOPED_TRACE(golden.name + " " + name);
      Replay(golden, name).compare();
    }
  }
}

TEST(ParityOptimizer, GroupsHaveTheSizesOfYolov5) {
  GOLDENS_OR_SKIP(cases, "c_optim");
  for (const Golden& golden : cases) {
    Detector detector = test::formula_model(golden.scalars["weights"]);
    const FlatParameters state(detector, torch::kCPU);
    std::array<int, group_count> sizes{};
    for (const auto& gradient : state.gradients_of_parameters()) {
      for (std::size_t g = 0; g < group_count; ++g) {
        const auto range = state.group(static_cast<Group>(g));
        const std::int64_t place = gradient.storage_offset() - range.begin;
        sizes[g] += place >= 0 && place < range.size;
      }
    }
    for (const auto& run : golden.scalars["runs"]) {
      EXPECT_EQ(run["param_group_sizes_bias_decay_bn"], nlohmann::json(sizes));
    }
  }
}

/// A bias, a weight and a batch norm weight of one number each.
struct Tiny : torch::nn::Module {
  Tiny() {
    auto bn = register_module("bn", std::make_shared<torch::nn::Module>());
    bn->register_parameter("weight", torch::ones(1));
    bn->register_parameter("bias", torch::ones(1));
    register_parameter("weight", torch::ones({1, 1, 1, 1}));
    bn->register_buffer("running_mean", torch::full(1, 7.F));
    bn->register_buffer("num_batches_tracked", torch::ones({}, torch::kLong));
  }
};

constexpr StepSettings plain{{0.1, 0.1, 0.1}, 0.9, 1};

/// Values after `steps` steps with gradients of 1: bias, weight, batch norm weight.
std::vector<float> after(int steps, Algorithm algorithm, double weight_decay) {
  Tiny model;
  FlatParameters state(model, torch::kCPU);
  Optimizer optimizer(algorithm, 0.9, weight_decay, state);
  for (int i = 0; i < steps; ++i) {
    state.gradients().fill_(1);
    optimizer.step(state, plain);
  }
  const auto values = state.packed(state.values());
  return {values.data_ptr<float>(), values.data_ptr<float>() + values.numel()};
}

TEST(Optimizer, SgdTakesNesterovsStep) {
  EXPECT_NEAR(after(1, Algorithm::sgd, 0)[0], 1 - 0.1 * 1.9, 1e-6);
  EXPECT_NEAR(after(2, Algorithm::sgd, 0)[0], 1 - 0.1 * 1.9 - 0.1 * (1 + 0.9 * 1.9), 1e-6);
}

TEST(Optimizer, AdamsFirstStepIsTheLearningRate) {
  EXPECT_NEAR(after(1, Algorithm::adam, 0)[0], 0.9, 1e-6);
  EXPECT_NEAR(after(1, Algorithm::adamw, 0)[0], 0.9, 1e-6);
}

TEST(Optimizer, OnlyTheConvolutionsDecay) {
  const auto values = after(1, Algorithm::sgd, 0.5);
  EXPECT_NEAR(values[bias_group], 0.81, 1e-6);
  EXPECT_NEAR(values[decay_group], 1 - 0.1 * 1.9 * 1.5, 1e-6);
  EXPECT_NEAR(values[norm_group], 0.81, 1e-6);
}

TEST(Optimizer, AdamwDecaysBesideTheStep) {
  EXPECT_NEAR(after(1, Algorithm::adamw, 0.5)[decay_group], 0.95 - 0.1, 1e-6);
}

TEST(Optimizer, RefusesAnUnknownName) {
  EXPECT_THROW(algorithm_of("sgd"), Error);
}

TEST(Ema, FollowsSlowlyAndLaterMoreSlowly) {
  Tiny model;
  FlatParameters state(model, torch::kCPU);
  Ema ema(state);
  state.values().zero_();
  ema.update(state);
  EXPECT_NEAR(ema.values()[0].item<double>(), Ema::decay(1), 1e-7);
  EXPECT_NEAR(Ema::decay(1), 0.9999 * (1 - std::exp(-1 / 2000.0)), 1e-15);
  EXPECT_NEAR(Ema::decay(1000000), 0.9999, 1e-9);
}

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

// What a training does when 16 bits are too few.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <future>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "hyp/space.hpp"
#include "tests/trainer/formula.hpp"
#include "tests/trainer/ranks/pair.hpp"
#include "trainer/run/setup.hpp"
#include "trainer/run/training_loop.hpp"

namespace evolve::trainer {
namespace {

using ::testing::HasSubstr;

/// A training in bfloat16 on the CPU, of images in which no anchor fits an object.
struct In16Bits {
  explicit In16Bits(int batch_size = 16, double fraction = 1)
      : options{.cfg = "yolov5p.yaml",
                .epochs = 1,
                .batch_size = batch_size,
                .imgsz = 64,
                .noautoanchor = true,
                .fraction = fraction} {
    auto made = make_detector(options, hyp, {}, 1, data);
    detector = made.get();
    loop.emplace(options, hyp, 1, data, std::move(made),
                 ComputeContext{.device = torch::kCPU, .fast_type = torch::kBFloat16});
  }

  static hyp::Hyperparameters without_matches() {
    auto hyp = hyp::start_of(hyp::default_space());
    hyp.set("anchor_t", 1.0);
    return hyp;
  }

  /// From now on the last map is 3.4e38, which bfloat16 rounds up to infinity. In single precision
  /// nothing comes of it: its weights are 0, and objectness there is so small that it has no
  /// gradient.
  void overflow() {
    const torch::NoGradGuard no_grad;
    auto parameters = detector->named_parameters();
    parameters["model.23.cv3.bn.bias"].fill_(std::numeric_limits<float>::max());
    parameters["model.24.m.2.weight"].zero_();
    parameters["model.24.m.2.bias"].view({3, -1}).select(1, 4).fill_(-3.4e38);
  }

  torch::ScalarType precision() const { return loop->state().step.scaler.type; }

  TrainOptions options;
  hyp::Hyperparameters hyp = without_matches();
  PreparedData data{options, 32, 1};
  Detector* detector;
  std::optional<TrainingLoop> loop;
  std::vector<double> no_ap = std::vector<double>(3);
};

/// A detector whose boxes are by `share` smaller in bfloat16 than in single precision.
Detector rounded_by(double share) {
  auto detector = test::make("yolov5p.yaml");
  const torch::NoGradGuard no_grad;
  // Next to the boxes of the first map the others are nothing.
  auto anchors = torch::ones_like(detector.anchors());
  anchors[0].fill_(1e4);
  detector.set_anchors(anchors);
  // What that map is made of is silu(1) everywhere, which bfloat16 rounds. A box has the side of
  // its anchor at the rounded one, and the greater side at the exact one.
  auto parameters = detector.named_parameters();
  parameters["model.17.cv3.conv.weight"].zero_();
  parameters["model.17.cv3.bn.bias"].fill_(1);
  const auto silu_in = [](torch::ScalarType type) {
    return torch::silu(torch::ones(1, type)).item<double>();
  };
  const double rounded = silu_in(torch::kBFloat16);
  const double sigmoid = std::sqrt(1 / (1 - share)) / 2;
  const double slope = std::log(sigmoid / (1 - sigmoid)) / (silu_in(torch::kFloat) - rounded);
  auto weight = parameters["model.24.m.0.weight"].zero_();
  weight.view({3, 8, -1}).slice(1, 2, 4).select(2, 0).fill_(slope);
  auto bias = parameters["model.24.m.0.bias"].zero_();
  bias.view({3, 8}).slice(1, 2, 4).fill_(-slope * rounded);
  return detector;
}

/// What is said of a training of this detector in bfloat16, as the only rank or the first of two.
std::string said_of(Detector detector, std::shared_ptr<Ranks> ranks = std::make_shared<Ranks>()) {
  In16Bits training;
  std::string said;
  const TrainingLoop loop(training.options, training.hyp, 1, training.data,
                          std::make_unique<Detector>(std::move(detector)),
                          ComputeContext{.device = torch::kCPU,
                                         .fast_type = torch::kBFloat16,
                                         .note = [&](const std::string& line) { said = line; },
                                         .ranks = std::move(ranks)});
  EXPECT_EQ(loop.state().step.scaler.type,
            said.starts_with("mixed precision is on") ? torch::kBFloat16 : torch::kFloat);
  return said;
}

TEST(MixedPrecisionTraining, IsOnWhereBFloat16DiffersByATenthAtMost) {
  EXPECT_EQ(said_of(rounded_by(0.05)),
            "mixed precision is on: BFloat16 differs from single precision by 5 % on this batch");
  EXPECT_EQ(said_of(rounded_by(0.2)),
            "mixed precision is off: BFloat16 differs from single precision by 20 % on this batch");
}

TEST(MixedPrecisionTraining, IsOffInAllRanksWhereItDiffersTooMuchInOne) {
  const auto ranks = test::joined_ranks(2);
  auto second = std::async(std::launch::async, [&] { return said_of(rounded_by(0.2), ranks[1]); });
  EXPECT_EQ(
      said_of(rounded_by(0.05), ranks[0]),
      "mixed precision is off: BFloat16 differs from single precision too much in another rank");
  EXPECT_EQ(second.get(),
            "mixed precision is off: BFloat16 differs from single precision by 20 % on this batch");
}

TEST(MixedPrecisionTraining, GoesOnInSinglePrecisionAfterAnOverflow) {
  In16Bits training;
  ASSERT_EQ(training.precision(), torch::kBFloat16);
  training.overflow();
  const auto weights = training.loop->state().values.clone();
  ::testing::internal::CaptureStderr();
  const auto progress = training.loop->train_epoch(0, training.no_ap, {});
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "mixed precision is off: BFloat16 overflowed before iteration 1\n");
  EXPECT_EQ(training.precision(), torch::kFloat);
  for (const double loss : progress.losses) EXPECT_TRUE(std::isfinite(loss));
  const auto trained = training.loop->state().values;
  EXPECT_TRUE(trained.isfinite().all().item<bool>()) << "weights and running statistics";
  EXPECT_FALSE(torch::equal(trained, weights));
}

TEST(MixedPrecisionTraining, DropsWhatItHasAccumulatedWhenItGoesOnInSinglePrecision) {
  In16Bits training(/*batch_size=*/2, /*fraction=*/0.1);
  ASSERT_EQ(training.precision(), torch::kBFloat16);
  ::testing::internal::CaptureStderr();
  // Of the third batch's gradients no step is made but with those of the fourth.
  training.loop->train_epoch(0, training.no_ap, [&](const EpochProgress& progress) {
    if (progress.batch == 2) training.overflow();
  });
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "mixed precision is off: BFloat16 overflowed before iteration 3\n");
  EXPECT_TRUE(training.loop->state().values.isfinite().all().item<bool>());
}

TEST(MixedPrecisionTraining, KeepsItsPrecisionWhenItGoesOnLater) {
  In16Bits cut, rest, other;
  cut.overflow();
  cut.loop->train_epoch(0, cut.no_ap, {});
  ASSERT_EQ(rest.precision(), torch::kBFloat16);
  rest.loop->load_state(cut.loop->state());
  EXPECT_EQ(rest.precision(), torch::kFloat);
  rest.loop->load_state(other.loop->state());
  EXPECT_EQ(rest.precision(), torch::kBFloat16);
}

TEST(MixedPrecisionTraining, IsSinglePrecisionOnADeviceThatTrainsInAnotherType) {
  In16Bits training;
  auto state = training.loop->state();
  state.step.scaler = {.type = torch::kHalf, .scale = 1024};
  training.loop->load_state(state);
  EXPECT_EQ(training.precision(), torch::kFloat);
}

TEST(MixedPrecisionTraining, OnTheCpuHasTheLossesOfOneInSinglePrecision) {
  const auto losses = [](bool amp) {
    TrainOptions options{.cfg = "yolov5p.yaml", .epochs = 1, .imgsz = 64, .amp = amp};
    const auto hyp = hyp::start_of(hyp::default_space());
    PreparedData data{options, 32, 1};
    TrainingLoop loop(options, hyp, 1, data, make_detector(options, hyp, {}, 1, data),
                      ComputeContext{.device = torch::kCPU, .fast_type = torch::kBFloat16});
    EXPECT_EQ(loop.state().step.scaler.type, amp ? torch::kBFloat16 : torch::kFloat);
    return loop.train_epoch(0, std::vector<double>(3), {}).losses;
  };
  const auto exact = losses(false), fast = losses(true);
  EXPECT_NE(fast, exact);
  for (std::size_t i = 0; i < exact.size(); ++i)
    EXPECT_NEAR(fast[i] / exact[i], 1, 0.01) << "loss " << i;
}

TEST(MixedPrecisionTraining, OnTheCpuIsValidatedInTheSamePrecision) {
  In16Bits training;
  training.loop->train_epoch(0, training.no_ap, {});
  const auto fast = training.loop->validate().metrics;
  auto state = training.loop->state();
  state.step.scaler.type = torch::kFloat;
  training.loop->load_state(state);
  ASSERT_EQ(training.precision(), torch::kFloat);
  const auto exact = training.loop->validate().metrics;
  EXPECT_NE(fast.obj_loss, exact.obj_loss);
  EXPECT_NEAR(fast.obj_loss / exact.obj_loss, 1, 0.01);
}

}  // namespace
}  // namespace evolve::trainer

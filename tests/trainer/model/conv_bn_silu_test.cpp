#include "trainer/model/conv_bn_silu.hpp"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "tests/trainer/golden.hpp"
#include "tests/trainer/threads.hpp"
#include "trainer/optim/amp.hpp"

namespace evolve::trainer {
namespace {

using test::relative_error;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

/// A layer's tensors and its images, the same ones for every call.
struct Layer {
  Layer(const ConvSpec& layer_spec, std::vector<std::int64_t> shape) : spec(layer_spec) {
    torch::manual_seed(1);
    x = torch::randn(shape).contiguous(at::MemoryFormat::ChannelsLast);
    weight = torch::randn({spec.out, spec.in / spec.groups, spec.kernel, spec.kernel})
                 .contiguous(at::MemoryFormat::ChannelsLast);
    bn.gamma = torch::rand(spec.out) + 0.5;
    bn.beta = torch::randn(spec.out);
    bn.running_mean = torch::randn(spec.out);
    bn.running_var = torch::rand(spec.out) + 0.5;
  }

  /// Output, running mean and variance, gradients of x, weight, γ and β under a loss of fixed
  /// weights per element. `maps`: the type of the images, otherwise `type`.
  std::vector<torch::Tensor> results(torch::ScalarType type,
                                     std::optional<torch::ScalarType> maps = {}) const {
    const auto leaf = [&](const torch::Tensor& t) { return t.to(type).clone().requires_grad_(); };
    const auto input = x.to(maps.value_or(type)).clone().requires_grad_(), w = leaf(weight);
    BatchNormTensors norm{leaf(bn.gamma), leaf(bn.beta), bn.running_mean.to(type).clone(),
                          bn.running_var.to(type).clone()};
    const auto out = conv_bn_silu(input, w, spec, norm, /*training=*/true);
    torch::manual_seed(2);
    auto gradient = torch::randn(out.sizes()).to(torch::kBFloat16).to(out.scalar_type());
    if (bad_gradient) gradient[0][1][2][3] = *bad_gradient;
    out.backward(gradient);
    return {out.detach(), norm.running_mean, norm.running_var, input.grad(),
            w.grad(),     norm.gamma.grad(), norm.beta.grad()};
  }

  ConvSpec spec;
  torch::Tensor x, weight;
  BatchNormTensors bn;
  /// One number of the gradient from above, where a test sets it.
  std::optional<float> bad_gradient;
};

/// Torch's own operators in double precision are the judge.
void expect_as_torch(const Layer& layer) {
  const auto ours = layer.results(torch::kFloat);
  const auto theirs = layer.results(torch::kDouble);
  for (std::size_t i = 0; i < ours.size(); ++i) {
    EXPECT_LT(relative_error(ours[i], theirs[i]), 3e-6) << "tensor " << i;
  }
}

TEST(ConvBnSilu, AgreesWithTorchsOperatorsAndTheirGradients) {
  expect_as_torch({{3, 8, 6, 2, 2}, {16, 3, 32, 32}});
  expect_as_torch({{16, 24, 3, 1, 1}, {4, 16, 9, 7}});
  expect_as_torch({{32, 200, 1, 1, 0}, {16, 32, 2, 2}});
  expect_as_torch({{8, 16, 3, 2, 1, 4}, {2, 8, 10, 6}});
  expect_as_torch({{8, 16, 1, 1, 0}, {1, 8, 3, 1}});
}

TEST(ConvBnSilu, AgreesOnFewImagesAndOneThread) {
  const test::Threads one(1);
  expect_as_torch({{16, 32, 1, 1, 0}, {13, 16, 8, 8}});
  expect_as_torch({{16, 32, 1, 1, 0}, {1, 16, 2, 3}});
  expect_as_torch({{16, 32, 3, 1, 1}, {13, 16, 8, 8}});
}

/// A layer whose images and weights are numbers of bfloat16.
Layer rounded(const ConvSpec& spec, std::vector<std::int64_t> shape) {
  Layer layer(spec, std::move(shape));
  layer.x = layer.x.to(torch::kBFloat16).to(torch::kFloat);
  layer.weight = layer.weight.to(torch::kBFloat16).to(torch::kFloat);
  return layer;
}

// Torch's unbiased variance of one value is NaN.
TEST(ConvBnSilu, LeavesItsRunningStatisticsAloneWhereAMapHasOneValuePerChannel) {
  const Layer layer({8, 16, 1, 1, 0}, {1, 8, 1, 1});
  for (const auto operators : {Operators::fast, Operators::plain}) {
    const BatchNormTensors norm{layer.bn.gamma, layer.bn.beta, layer.bn.running_mean.clone(),
                                layer.bn.running_var.clone()};
    const torch::NoGradGuard no_grad;
    const auto out =
        conv_bn_silu(layer.x, layer.weight, layer.spec, norm, /*training=*/true, operators);
    EXPECT_TRUE(out.isfinite().all().item<bool>());
    EXPECT_TRUE(torch::equal(norm.running_mean, layer.bn.running_mean));
    EXPECT_TRUE(torch::equal(norm.running_var, layer.bn.running_var));
  }
}

TEST(ConvBnSilu, InBfloat16AgreesUpToTheRoundingOfMaps) {
  if (fast_type(torch::kCPU) != torch::kBFloat16)
    GTEST_SKIP() << "this processor is not fast in bfloat16: nothing is trained in it here";
  for (const auto& layer :
       {rounded({3, 8, 6, 2, 2}, {16, 3, 32, 32}), rounded({16, 24, 3, 1, 1}, {4, 16, 9, 7}),
        rounded({32, 200, 1, 1, 0}, {16, 32, 8, 8}), rounded({8, 16, 3, 2, 1, 4}, {2, 8, 10, 6})}) {
    const auto ours = layer.results(torch::kFloat, torch::kBFloat16);
    const auto theirs = layer.results(torch::kDouble);
    constexpr auto map = torch::kBFloat16, number = torch::kFloat;
    const auto types = {map, number, number, map, number, number, number};
    EXPECT_TRUE(std::ranges::equal(ours, types, {}, [](const auto& t) { return t.scalar_type(); }));
    for (std::size_t i = 0; i < ours.size(); ++i) {
      // A number of bfloat16 is off by up to 1/256; the gradients see it in the map, in the
      // gradient of the map and in themselves.
      EXPECT_LT(relative_error(ours[i], theirs[i]), i < 3 ? 1. / 256 : 3. / 256) << "tensor " << i;
    }
  }
}

TEST(ConvBnSilu, InBfloat16LetsWhatIsNotFiniteThrough) {
  for (const float bad : {nan, infinity}) {
    Layer layer({8, 8, 1, 1, 0}, {16, 8, 4, 4});
    layer.x[0][0][0][0] = bad;
    for (const auto& tensor : layer.results(torch::kFloat, torch::kBFloat16)) {
      EXPECT_FALSE(tensor.isfinite().all().item<bool>());
    }
  }
}

TEST(ConvBnSilu, TakesImagesInAnyMemoryLayout) {
  Layer layer({16, 24, 3, 1, 1}, {4, 16, 9, 7});
  const auto channels_last = layer.results(torch::kFloat);
  layer.x = layer.x.contiguous();
  layer.weight = layer.weight.contiguous();
  const auto contiguous = layer.results(torch::kFloat);
  for (std::size_t i = 0; i < contiguous.size(); ++i) {
    EXPECT_LT(relative_error(contiguous[i], channels_last[i]), 1e-6);
  }
}

/// Wherever torch's operators give a number that is not finite, ours do.
void expect_not_finite_where_torch_is_not(const Layer& layer) {
  const auto ours = layer.results(torch::kFloat);
  const auto theirs = layer.results(torch::kDouble);
  for (std::size_t i = 0; i < ours.size(); ++i) {
    EXPECT_TRUE(torch::equal(ours[i].isfinite(), theirs[i].isfinite())) << "tensor " << i;
  }
}

TEST(ConvBnSilu, LetsANanThrough) {
  Layer layer({8, 8, 1, 1, 0}, {16, 8, 4, 4});
  layer.x[0][0][0][0] = nan;
  for (const auto& tensor : layer.results(torch::kFloat)) {
    EXPECT_TRUE(tensor.isnan().any().item<bool>());
  }
  expect_not_finite_where_torch_is_not(layer);
}

TEST(ConvBnSilu, LetsANanInItsWeightsThrough) {
  const Layer sound({8, 24, 3, 1, 1}, {2, 8, 5, 7});
  for (auto member : {&BatchNormTensors::gamma, &BatchNormTensors::beta}) {
    Layer layer = sound;
    layer.bn.*member = (sound.bn.*member).clone();
    (layer.bn.*member)[3] = nan;
    const auto results = layer.results(torch::kFloat);
    EXPECT_TRUE(results[0].select(1, 3).isnan().all().item<bool>());
    EXPECT_FALSE(results[0].select(1, 4).isnan().any().item<bool>());
    EXPECT_TRUE(results[3].isnan().any().item<bool>()) << "the gradient of the images";
    expect_not_finite_where_torch_is_not(layer);
  }
  Layer layer = sound;
  layer.weight = sound.weight.clone();
  layer.weight[3][0][0][0] = nan;
  EXPECT_TRUE(layer.results(torch::kFloat)[0].select(1, 3).isnan().any().item<bool>());
  expect_not_finite_where_torch_is_not(layer);
}

TEST(ConvBnSilu, LetsANanInTheGradientThrough) {
  for (const float bad : {nan, infinity}) {
    Layer layer({8, 16, 1, 1, 0}, {16, 8, 4, 4});
    layer.bad_gradient = bad;
    const auto results = layer.results(torch::kFloat);
    for (std::size_t i = 3; i < results.size(); ++i) {
      EXPECT_FALSE(results[i].isfinite().all().item<bool>()) << "tensor " << i;
    }
    expect_not_finite_where_torch_is_not(layer);
  }
}

TEST(ConvBnSilu, LetsAnInfinityThrough) {
  for (const float sign : {1.F, -1.F}) {
    Layer layer({8, 8, 1, 1, 0}, {16, 8, 4, 4});
    layer.x[1][2][3][0] = sign * infinity;
    for (const auto& tensor : layer.results(torch::kFloat)) {
      EXPECT_FALSE(tensor.isfinite().all().item<bool>());
    }
    expect_not_finite_where_torch_is_not(layer);
  }
}

TEST(ConvBnSilu, LetsANanThroughEveryPlaceOfAVector) {
  for (std::int64_t place = 0; place < 24; ++place) {
    Layer layer({24, 24, 1, 1, 0, 24}, {1, 24, 1, 3});  // each channel by itself
    layer.x[0][place][0][place % 3] = nan;
    const auto out = layer.results(torch::kFloat)[0].isnan();
    EXPECT_TRUE(out.select(1, place).all().item<bool>()) << place;
    EXPECT_EQ(out.sum().item<int>(), 3) << place;
    expect_not_finite_where_torch_is_not(layer);
  }
}

TEST(Silu, AgreesWithTorchsInAnyShapeAndLayout) {
  torch::manual_seed(1);
  for (const std::int64_t count : {1, 17, 32768, 32769, 100000}) {
    const auto x = torch::randn({count}) * 20;
    auto y = x.clone();
    silu_of(y);
    EXPECT_LT(relative_error(y, torch::silu(x.to(torch::kDouble))), 3e-7) << count;
  }
  const auto images = torch::randn({2, 5, 3, 4});
  const auto channels_last = images.contiguous(at::MemoryFormat::ChannelsLast);
  const auto narrow = torch::randn({2, 5, 3, 9}).slice(/*dim=*/3, 2, 6);  // with gaps in memory
  for (auto y : {images, channels_last, narrow}) {
    const auto wanted = torch::silu(y.to(torch::kDouble));
    silu_of(y);
    EXPECT_LT(relative_error(y, wanted), 3e-7);
  }
}

TEST(Silu, InBfloat16IsRoundedOnce) {
  torch::manual_seed(1);
  for (const std::int64_t count : {1, 17, 32769}) {
    const auto x = (torch::randn({count}) * 20).to(torch::kBFloat16);
    auto y = x.clone();
    silu_of(y);
    ASSERT_EQ(y.scalar_type(), torch::kBFloat16);
    const auto wanted = torch::silu(x.to(torch::kDouble));
    const auto off = (y.to(torch::kDouble) - wanted).abs() / wanted.abs().clamp_min(1e-30);
    EXPECT_LE(off.max().item<double>(), 1 / 256.0 + 1e-6) << count;
  }
}

TEST(Silu, DoesNotDependOnTheNumberOfThreads) {
  const auto x = torch::randn({100000});
  auto one = x.clone(), two = x.clone();
  {
    const test::Threads threads(1);
    silu_of(one);
  }
  const test::Threads threads(2);
  silu_of(two);
  EXPECT_TRUE(torch::equal(one, two));
}

TEST(Silu, LetsWhatIsNotFiniteThrough) {
  auto x = torch::tensor({nan, infinity, -infinity, 1000.F, -1000.F});
  silu_of(x);
  EXPECT_TRUE(x[0].isnan().item<bool>());
  EXPECT_FALSE(x.slice(0, 1, 3).isfinite().any().item<bool>());
  EXPECT_EQ(x[3].item<float>(), 1000);
  EXPECT_NEAR(x[4].item<float>(), 0, 1e-30);
}

TEST(Silu, LeavesTheGradientToTorch) {
  const auto x = torch::randn({40}).requires_grad_();
  auto y = x * 1;
  silu_of(y);
  y.sum().backward();
  const auto s = torch::sigmoid(x.detach());
  EXPECT_LT(relative_error(x.grad(), s * (1 + x.detach() * (1 - s))), 1e-6);
}

TEST(ConvBnSilu, SaturatesAsSiluDoes) {
  Layer layer({8, 8, 1, 1, 0}, {16, 8, 4, 4});
  layer.bn.gamma.fill_(1000);
  const auto out = layer.results(torch::kFloat)[0];
  EXPECT_TRUE(out.isfinite().all().item<bool>());
  EXPECT_LT(relative_error(out, layer.results(torch::kDouble)[0]), 3e-6);
}

}  // namespace
}  // namespace evolve::trainer

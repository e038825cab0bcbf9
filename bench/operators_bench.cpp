// What the trainer's operators save on the CPU: batch norm and SiLU on torch's threads, Detect's
// 1x1 convolutions in one thread, and weights that begin at a multiple of 64 bytes.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>

#include <vector>

#include "trainer/model/bn_silu.hpp"
#include "trainer/model/conv_bn_silu.hpp"
#include "trainer/model/parallel.hpp"

namespace evolve::trainer {
namespace {

void serially(std::int64_t count, const std::function<void(std::int64_t)>& f) {
  for (std::int64_t i = 0; i < count; ++i) f(i);
}

/// Forwards and backwards over a map of 16 images of 64 x 64 with 32 channels. Arguments: threads,
/// and whether the loop uses them.
void bn_silu_both_ways(benchmark::State& state) {
  at::set_num_threads(static_cast<int>(state.range(0)));
  const ParallelFor parallel = state.range(1) == 1 ? parallel_for : serially;
  const MapShape shape{16 * 64 * 64, 32};
  const auto map = at::randn({shape.rows, shape.channels}), gradient = at::randn_like(map);
  auto out = at::empty_like(map);
  std::vector<float> gamma(shape.channels, 1), beta(shape.channels), gammas(gamma), betas(beta);
  std::vector<double> mean(shape.channels), variance(shape.channels);
  const auto* const values = map.data_ptr<float>();
  for (auto _ : state) {
    channel_moments(values, shape, parallel, mean.data(), variance.data());
    const BatchNorm bn{gamma.data(), beta.data(), mean.data(), variance.data()};
    bn_silu(values, shape, bn, parallel, out.data_ptr<float>());
    bn_silu_backward(values, gradient.data_ptr<float>(), shape, bn, parallel, out.data_ptr<float>(),
                     gammas.data(), betas.data());
  }
}
BENCHMARK(bn_silu_both_ways)
    ->ArgNames({"threads", "parallel"})
    ->Args({1, 0})
    ->Args({2, 0})
    ->Args({2, 1})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

/// Detect of yolov5s on images of 640 x 640, 80 classes, in one thread. Arguments: images, and
/// whether by convolve() or by torch's convolution.
void detect(benchmark::State& state) {
  at::set_num_threads(1);
  struct Level {
    at::Tensor x, weight, bias;
  };
  std::vector<Level> levels;
  for (const std::int64_t channels : {128, 256, 512}) {
    const std::int64_t side = 80 * 128 / channels;
    levels.push_back({at::randn({state.range(0), channels, side, side})
                          .contiguous(at::MemoryFormat::ChannelsLast),
                      at::randn({255, channels, 1, 1}), at::randn({255})});
  }
  for (auto _ : state) {
    for (const auto& [x, weight, bias] : levels) {
      const ConvSpec spec{.in = static_cast<int>(x.size(1)), .out = 255};
      benchmark::DoNotOptimize(state.range(1) == 1 ? convolve(x, weight, bias, spec)
                                                   : at::conv2d(x, weight, bias));
    }
  }
}
BENCHMARK(detect)
    ->ArgNames({"images", "convolve"})
    ->ArgsProduct({{1, 8}, {0, 1}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

/// A 1x1 convolution of 64 channels over 16 maps of 4 x 4, as yolov5p has them at 64 px, in
/// bfloat16 in one thread. Argument: whether by convolve() or by torch's convolution.
void small_convolution(benchmark::State& state) {
  at::set_num_threads(1);
  const at::NoGradGuard no_grad;
  const auto x =
      at::randn({16, 64, 4, 4}).to(at::kBFloat16).contiguous(at::MemoryFormat::ChannelsLast);
  const auto weight = at::randn({64, 64, 1, 1});
  const auto rounded = weight.to(at::kBFloat16);
  const ConvSpec spec{.in = 64, .out = 64};
  for (auto _ : state) {
    benchmark::DoNotOptimize(state.range(0) == 1 ? convolve(x, weight, {}, spec)
                                                 : at::conv2d(x, rounded));
  }
}
BENCHMARK(small_convolution)->ArgName("convolve")->Arg(0)->Arg(1)->UseRealTime();

/// A 3x3 convolution of 64 channels over 16 maps of 32 x 32, whose weights begin so many bytes
/// after a multiple of 64. Arguments: threads, bytes.
void convolution_of_weights_at(benchmark::State& state) {
  at::set_num_threads(static_cast<int>(state.range(0)));
  const auto x = at::randn({16, 64, 32, 32}).contiguous(at::MemoryFormat::ChannelsLast);
  const auto weight =
      at::randn({64 * 64 * 9 + 16}).narrow(0, state.range(1) / 4, 64 * 64 * 9).view({64, 64, 3, 3});
  const ConvSpec spec{.in = 64, .out = 64, .kernel = 3, .stride = 1, .padding = 1};
  for (auto _ : state) benchmark::DoNotOptimize(convolve(x, weight, {}, spec));
}
BENCHMARK(convolution_of_weights_at)
    ->ArgNames({"threads", "bytes"})
    ->ArgsProduct({{1, 2}, {0, 4, 8}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace evolve::trainer

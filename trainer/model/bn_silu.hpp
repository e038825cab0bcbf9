// Batch norm and SiLU together, forwards and backwards, on the CPU. Torch-free.
//
// A small detector spends most of its time between its convolutions: torch's batch norm and SiLU
// are two operators that each read and write the whole map, and keep two copies of it for the way
// back. Here they are one pass over the map on the way out and two on the way back, and the
// convolution's output is all that is kept.
//
// A map is seen as [rows, channels] (batch * height * width in channels-last memory). Sums over
// rows are taken in fixed blocks, so that results do not depend on the number of threads.
//
// Numbers of a map are float or BFloat16; whatever is computed from them is at least a float.
#pragma once

#include <cstdint>
#include <functional>

namespace evolve::trainer {

/// Runs f(0) … f(count - 1) in any order, on any thread.
using ParallelFor =
    std::function<void(std::int64_t count, const std::function<void(std::int64_t)>&)>;

/// The upper half of a float, as torch keeps a bfloat16.
struct BFloat16 {
  std::uint16_t bits = 0;
};

struct MapShape {
  std::int64_t rows = 0, channels = 0;
};

/// Mean and biased variance of each channel, summed up in double precision as torch does.
template <class Number>
void channel_moments(const Number* map, MapShape shape, const ParallelFor& parallel, double* mean,
                     double* variance);

/// Per channel: the batch norm's learned scale γ and shift β, and the statistics it uses.
struct BatchNorm {
  const float* gamma = nullptr;
  const float* beta = nullptr;
  const double* mean = nullptr;
  /// 1 / √(variance + ε)
  const double* inverse_deviation = nullptr;
};

/// out = silu(batch_norm(map))
template <class Number>
void bn_silu(const Number* map, MapShape shape, const BatchNorm& bn, const ParallelFor& parallel,
             Number* out);

/// x · σ(x) of each of `count` numbers, in place.
template <class Number>
void silu(Number* values, std::int64_t count, const ParallelFor& parallel);

/// From the gradient of silu(batch_norm(map)) those of the map, of γ and of β, the statistics being
/// the map's own. Ioffe and Szegedy, Batch Normalization, section 3.
template <class Number>
void bn_silu_backward(const Number* map, const Number* gradient, MapShape shape,
                      const BatchNorm& bn, const ParallelFor& parallel, Number* map_gradient,
                      float* gamma_gradient, float* beta_gradient);

}  // namespace evolve::trainer

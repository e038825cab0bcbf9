#include "trainer/bn_silu.hpp"

#include <algorithm>
#include <bit>
#include <vector>

// One version of each loop per generation of x86 processors, chosen when the program starts.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define EVOLVE_VECTOR_LOOP \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define EVOLVE_VECTOR_LOOP
#endif

namespace evolve::trainer {
namespace {

/// e^x to 2 units in the last place, in operations that vectorise: 2^n * e^r with |r| <= ln 2 / 2.
/// The polynomial is that of the Cephes library's expf().
[[gnu::always_inline]] inline float fast_exp(float x) {
  x = std::max(-87.F, std::min(x, 88.F));
  // Adding 1.5 * 2^23 rounds to a whole number and leaves it in the lowest bits.
  const float shifted = x * 1.44269504F + 12582912.F;
  const float n = shifted - 12582912.F;
  const float r = x - n * 0.693359375F + n * 2.12194440e-4F;
  float p = 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * r * r + r + 1.F;
  const auto power = (std::bit_cast<std::int32_t>(shifted) - 0x4b400000 + 127) << 23;
  return p * std::bit_cast<float>(power);
}

/// Rows [begin, end) of a map that is `width` wide.
struct Rows {
  std::int64_t begin = 0, end = 0, width = 0;
};

EVOLVE_VECTOR_LOOP
void add_rows(const float* __restrict map, Rows rows, float* __restrict sum) {
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    const float* __restrict row = map + i * rows.width;
    for (std::int64_t c = 0; c < rows.width; ++c) sum[c] += row[c];
  }
}

EVOLVE_VECTOR_LOOP
void add_squares(const float* __restrict map, Rows rows, const float* __restrict mean,
                 float* __restrict sum) {
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    const float* __restrict row = map + i * rows.width;
    for (std::int64_t c = 0; c < rows.width; ++c) {
      const float difference = row[c] - mean[c];
      sum[c] += difference * difference;
    }
  }
}

EVOLVE_VECTOR_LOOP
void write_silu(const float* __restrict map, Rows rows, const float* __restrict scale,
                const float* __restrict shift, float* __restrict out) {
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    const float* __restrict row = map + i * rows.width;
    float* __restrict to = out + i * rows.width;
    for (std::int64_t c = 0; c < rows.width; ++c) {
      const float z = row[c] * scale[c] + shift[c];
      to[c] = z / (1.F + fast_exp(-z));
    }
  }
}

/// Writes the gradient before SiLU, d, and adds up d and d * map.
EVOLVE_VECTOR_LOOP
void silu_backward(const float* __restrict map, const float* __restrict gradient, Rows rows,
                   const float* __restrict scale, const float* __restrict shift,
                   float* __restrict out, float* __restrict sum, float* __restrict product_sum) {
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    const float* __restrict row = map + i * rows.width;
    const float* __restrict g = gradient + i * rows.width;
    float* __restrict to = out + i * rows.width;
    for (std::int64_t c = 0; c < rows.width; ++c) {
      const float z = row[c] * scale[c] + shift[c];
      const float sigmoid = 1.F / (1.F + fast_exp(-z));
      const float d = g[c] * sigmoid * (1.F + z * (1.F - sigmoid));
      to[c] = d;
      sum[c] += d;
      product_sum[c] += d * row[c];
    }
  }
}

/// out = a * out + b * map + c, all per column.
EVOLVE_VECTOR_LOOP
void combine(const float* __restrict map, Rows rows, const float* __restrict a,
             const float* __restrict b, const float* __restrict c, float* __restrict out) {
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    const float* __restrict row = map + i * rows.width;
    float* __restrict to = out + i * rows.width;
    for (std::int64_t k = 0; k < rows.width; ++k) to[k] = a[k] * to[k] + b[k] * row[k] + c[k];
  }
}

/// How a map is worked through: so many rows taken as one that a vector register is filled, in at
/// most 16 blocks.
struct Plan {
  explicit Plan(MapShape map_shape) : shape(map_shape) {
    while (shape.channels * folded < 64 && shape.rows % (2 * folded) == 0) folded *= 2;
    width = shape.channels * folded;
    rows = shape.rows / folded;
    blocks = std::clamp<std::int64_t>(shape.rows * shape.channels / 32768, 1, 16);
  }

  Rows block(std::int64_t index) const {
    return {rows * index / blocks, rows * (index + 1) / blocks, width};
  }

  /// A value per channel, repeated for each folded row.
  std::vector<float> spread(const float* values) const {
    std::vector<float> wide(static_cast<std::size_t>(width));
    for (std::int64_t i = 0; i < width; i += shape.channels) {
      std::copy_n(values, shape.channels, wide.begin() + i);
    }
    return wide;
  }

  /// Sums per channel of sums [blocks, width].
  std::vector<double> folded_sums(const std::vector<float>& partial) const {
    std::vector<double> sums(static_cast<std::size_t>(shape.channels));
    for (std::int64_t i = 0; i < blocks * width; ++i) sums[i % shape.channels] += partial[i];
    return sums;
  }

  std::vector<float> partial_sums() const {
    return std::vector<float>(static_cast<std::size_t>(blocks * width));
  }

  MapShape shape;
  std::int64_t folded = 1, width = 0, rows = 0, blocks = 1;
};

}  // namespace

void channel_moments(const float* map, MapShape shape, const ParallelFor& parallel, float* mean,
                     float* variance) {
  const Plan plan(shape);
  const auto rows = static_cast<double>(shape.rows);
  auto partial = plan.partial_sums();
  parallel(plan.blocks,
           [&](std::int64_t b) { add_rows(map, plan.block(b), &partial[b * plan.width]); });
  const auto sums = plan.folded_sums(partial);
  for (std::int64_t c = 0; c < shape.channels; ++c) mean[c] = static_cast<float>(sums[c] / rows);
  const auto means = plan.spread(mean);
  std::fill(partial.begin(), partial.end(), 0.F);
  parallel(plan.blocks, [&](std::int64_t b) {
    add_squares(map, plan.block(b), means.data(), &partial[b * plan.width]);
  });
  const auto squares = plan.folded_sums(partial);
  for (std::int64_t c = 0; c < shape.channels; ++c) {
    variance[c] = static_cast<float>(squares[c] / rows);
  }
}

void affine_silu(const float* map, MapShape shape, const float* scale, const float* shift,
                 const ParallelFor& parallel, float* out) {
  const Plan plan(shape);
  const auto scales = plan.spread(scale);
  const auto shifts = plan.spread(shift);
  parallel(plan.blocks, [&](std::int64_t b) {
    write_silu(map, plan.block(b), scales.data(), shifts.data(), out);
  });
}

void bn_silu_backward(const float* map, const float* gradient, MapShape shape, const BatchNorm& bn,
                      const ParallelFor& parallel, float* map_gradient, float* gamma_gradient,
                      float* beta_gradient) {
  const Plan plan(shape);
  const auto channels = static_cast<std::size_t>(shape.channels);
  std::vector<float> scale(channels), shift(channels), slope(channels), offset(channels);
  for (std::size_t c = 0; c < channels; ++c) {
    scale[c] = bn.gamma[c] * bn.inverse_deviation[c];
    shift[c] = bn.beta[c] - bn.mean[c] * scale[c];
  }
  const auto scales = plan.spread(scale.data());
  const auto shifts = plan.spread(shift.data());
  auto partial = plan.partial_sums();
  auto partial_products = plan.partial_sums();
  parallel(plan.blocks, [&](std::int64_t b) {
    silu_backward(map, gradient, plan.block(b), scales.data(), shifts.data(), map_gradient,
                  &partial[b * plan.width], &partial_products[b * plan.width]);
  });
  const auto sums = plan.folded_sums(partial);
  const auto products = plan.folded_sums(partial_products);
  const auto rows = static_cast<double>(shape.rows);
  for (std::size_t c = 0; c < channels; ++c) {
    const double deviation = bn.inverse_deviation[c];
    const double gamma = (products[c] - sums[c] * bn.mean[c]) * deviation;
    gamma_gradient[c] = static_cast<float>(gamma);
    beta_gradient[c] = static_cast<float>(sums[c]);
    slope[c] = static_cast<float>(-scale[c] * deviation * gamma / rows);
    offset[c] = static_cast<float>(-scale[c] * sums[c] / rows - slope[c] * bn.mean[c]);
  }
  const auto slopes = plan.spread(slope.data());
  const auto offsets = plan.spread(offset.data());
  parallel(plan.blocks, [&](std::int64_t b) {
    combine(map, plan.block(b), scales.data(), slopes.data(), offsets.data(), map_gradient);
  });
}

}  // namespace evolve::trainer

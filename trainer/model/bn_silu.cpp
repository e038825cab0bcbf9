#include "trainer/model/bn_silu.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "trainer/vector_loop.hpp"

namespace evolve::trainer {
namespace {

/// e^x to 2 units in the last place, in operations that vectorise: 2^n * e^r with |r| <= ln 2 / 2.
/// The polynomial is that of the Cephes library's expf(). Finite for every x, NaN included: who
/// calls this multiplies the result with something that x takes part in, and so keeps a NaN.
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

[[gnu::always_inline]] inline float read(float number) {
  return number;
}

[[gnu::always_inline]] inline float read(BFloat16 number) {
  return std::bit_cast<float>(std::uint32_t{number.bits} << 16);
}

[[gnu::always_inline]] inline void write(float value, float& number) {
  number = value;
}

/// To the nearest, ties to even. A NaN that arithmetic makes stays one.
[[gnu::always_inline]] inline void write(float value, BFloat16& number) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  number.bits = static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/// Rows [begin, end) of a map that is `width` wide.
struct Rows {
  std::int64_t begin = 0, end = 0, width = 0;
};

template <class Number>
EVOLVE_VECTOR_LOOP void add_rows(const Number* __restrict map, Rows rows, float* __restrict sum) {
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    const Number* __restrict row = map + i * rows.width;
    for (std::int64_t c = 0; c < rows.width; ++c) sum[c] += read(row[c]);
  }
}

template <class Number>
EVOLVE_VECTOR_LOOP void add_squares(const Number* __restrict map, Rows rows,
                                    const float* __restrict centre, float* __restrict sum) {
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    const Number* __restrict row = map + i * rows.width;
    for (std::int64_t c = 0; c < rows.width; ++c) {
      const float difference = read(row[c]) - centre[c];
      sum[c] += difference * difference;
    }
  }
}

template <class Number>
EVOLVE_VECTOR_LOOP void write_silu(const Number* __restrict map, Rows rows,
                                   const float* __restrict centre, const float* __restrict scale,
                                   const float* __restrict shift, Number* __restrict out) {
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    const Number* __restrict row = map + i * rows.width;
    Number* __restrict to = out + i * rows.width;
    for (std::int64_t c = 0; c < rows.width; ++c) {
      const float z = (read(row[c]) - centre[c]) * scale[c] + shift[c];
      write(z / (1.F + fast_exp(-z)), to[c]);
    }
  }
}

template <class Number>
EVOLVE_VECTOR_LOOP void silu_in_place(Number* __restrict values, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float x = read(values[i]);
    write(x / (1.F + fast_exp(-x)), values[i]);
  }
}

/// Writes the gradient before SiLU, d, and adds up d and d * (map - centre).
template <class Number>
EVOLVE_VECTOR_LOOP void silu_backward(const Number* __restrict map,
                                      const Number* __restrict gradient, Rows rows,
                                      const float* __restrict centre, const float* __restrict scale,
                                      const float* __restrict shift, Number* __restrict out,
                                      float* __restrict sum, float* __restrict product_sum) {
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    const Number* __restrict row = map + i * rows.width;
    const Number* __restrict g = gradient + i * rows.width;
    Number* __restrict to = out + i * rows.width;
    for (std::int64_t c = 0; c < rows.width; ++c) {
      const float x = read(row[c]) - centre[c];
      const float z = x * scale[c] + shift[c];
      const float sigmoid = 1.F / (1.F + fast_exp(-z));
      const float d = read(g[c]) * sigmoid * (1.F + z * (1.F - sigmoid));
      write(d, to[c]);
      sum[c] += d;
      product_sum[c] += d * x;
    }
  }
}

/// out = a * out + b * (map - centre) + c, all per column.
template <class Number>
EVOLVE_VECTOR_LOOP void combine(const Number* __restrict map, Rows rows,
                                const float* __restrict centre, const float* __restrict a,
                                const float* __restrict b, const float* __restrict c,
                                Number* __restrict out) {
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    const Number* __restrict row = map + i * rows.width;
    Number* __restrict to = out + i * rows.width;
    for (std::int64_t k = 0; k < rows.width; ++k) {
      write(a[k] * read(to[k]) + b[k] * (read(row[k]) - centre[k]) + c[k], to[k]);
    }
  }
}

EVOLVE_VECTOR_LOOP
void add(const float* __restrict values, std::int64_t count, double* __restrict sum) {
  for (std::int64_t i = 0; i < count; ++i) sum[i] += values[i];
}

/// How a map is worked through: so many rows taken as one that a vector register is filled, in at
/// most 16 blocks.
struct Blocking {
  explicit Blocking(MapShape map_shape) : shape(map_shape) {
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

  /// `count` sums over all rows for each channel, [count, channels]. `add_rows(rows, sums)` adds
  /// those over few rows to sums [count, width]: few enough for single precision.
  template <class F>
  std::vector<double> sums(std::int64_t count, const ParallelFor& parallel, F add_rows) const {
    const std::int64_t few = std::max<std::int64_t>(2048 / width, 8);
    std::vector<double> wide(static_cast<std::size_t>(blocks * count * width));
    parallel(blocks, [&](std::int64_t b) {
      const Rows all = block(b);
      std::vector<float> part(static_cast<std::size_t>(count * width));
      for (std::int64_t begin = all.begin; begin < all.end; begin += few) {
        std::fill(part.begin(), part.end(), 0.F);
        add_rows(Rows{begin, std::min(begin + few, all.end), width}, part.data());
        add(part.data(), count * width, &wide[b * count * width]);
      }
    });
    std::vector<double> narrow(static_cast<std::size_t>(count * shape.channels));
    for (std::int64_t i = 0; i < blocks * count * folded; ++i) {
      double* to = &narrow[i / folded % count * shape.channels];
      for (std::int64_t c = 0; c < shape.channels; ++c) to[c] += wide[i * shape.channels + c];
    }
    return narrow;
  }

  MapShape shape;
  std::int64_t folded = 1, width = 0, rows = 0, blocks = 1;
};

/// A batch norm as (x - centre) * scale + shift, per column of a blocking. The centre is the mean
/// in single precision and the shift takes up what that leaves out.
struct Affine {
  Affine(const Blocking& blocking, const BatchNorm& bn) {
    const auto channels = static_cast<std::size_t>(blocking.shape.channels);
    std::vector<float> narrow_centre(channels), narrow_scale(channels), narrow_shift(channels);
    for (std::size_t c = 0; c < channels; ++c) {
      const double factor = bn.gamma[c] * bn.inverse_deviation[c];
      narrow_centre[c] = static_cast<float>(bn.mean[c]);
      narrow_scale[c] = static_cast<float>(factor);
      narrow_shift[c] = static_cast<float>(bn.beta[c] + (narrow_centre[c] - bn.mean[c]) * factor);
    }
    centre = blocking.spread(narrow_centre.data());
    scale = blocking.spread(narrow_scale.data());
    shift = blocking.spread(narrow_shift.data());
  }

  std::vector<float> centre, scale, shift;
};

}  // namespace

template <class Number>
void channel_moments(const Number* map, MapShape shape, const ParallelFor& parallel, double* mean,
                     double* variance) {
  const Blocking blocking(shape);
  const auto channels = static_cast<std::size_t>(shape.channels);
  const auto rows = static_cast<double>(shape.rows);
  const auto sums =
      blocking.sums(1, parallel, [&](Rows some, float* sum) { add_rows(map, some, sum); });
  std::vector<float> centre(channels);
  for (std::size_t c = 0; c < channels; ++c) {
    mean[c] = sums[c] / rows;
    centre[c] = static_cast<float>(mean[c]);
  }
  const auto centres = blocking.spread(centre.data());
  const auto squares = blocking.sums(
      1, parallel, [&](Rows some, float* sum) { add_squares(map, some, centres.data(), sum); });
  for (std::size_t c = 0; c < channels; ++c) variance[c] = squares[c] / rows;
}

template <class Number>
void bn_silu(const Number* map, MapShape shape, const BatchNorm& bn, const ParallelFor& parallel,
             Number* out) {
  const Blocking blocking(shape);
  const Affine affine(blocking, bn);
  parallel(blocking.blocks, [&](std::int64_t b) {
    write_silu(map, blocking.block(b), affine.centre.data(), affine.scale.data(),
               affine.shift.data(), out);
  });
}

template <class Number>
void silu(Number* values, std::int64_t count, const ParallelFor& parallel) {
  constexpr std::int64_t in_a_block = 32768;
  parallel((count + in_a_block - 1) / in_a_block, [&](std::int64_t b) {
    silu_in_place(values + b * in_a_block, std::min(in_a_block, count - b * in_a_block));
  });
}

template <class Number>
void bn_silu_backward(const Number* map, const Number* gradient, MapShape shape,
                      const BatchNorm& bn, const ParallelFor& parallel, Number* map_gradient,
                      float* gamma_gradient, float* beta_gradient) {
  const Blocking blocking(shape);
  const Affine affine(blocking, bn);
  const auto sums = blocking.sums(2, parallel, [&](Rows some, float* sum) {
    silu_backward(map, gradient, some, affine.centre.data(), affine.scale.data(),
                  affine.shift.data(), map_gradient, sum, sum + blocking.width);
  });
  const double* products = sums.data() + shape.channels;
  const auto rows = static_cast<double>(shape.rows);
  std::vector<float> slope(shape.channels), offset(shape.channels);
  for (std::int64_t c = 0; c < shape.channels; ++c) {
    // What the centre leaves out of the mean is left out of the sum of products too.
    const double left_out = affine.centre[c] - bn.mean[c];
    const double deviation = bn.inverse_deviation[c];
    const double gamma = (products[c] + sums[c] * left_out) * deviation;
    gamma_gradient[c] = static_cast<float>(gamma);
    beta_gradient[c] = static_cast<float>(sums[c]);
    const double scale = bn.gamma[c] * deviation;
    const double factor = -scale * deviation * gamma / rows;
    slope[c] = static_cast<float>(factor);
    offset[c] = static_cast<float>(-scale * sums[c] / rows + factor * left_out);
  }
  const auto slopes = blocking.spread(slope.data());
  const auto offsets = blocking.spread(offset.data());
  parallel(blocking.blocks, [&](std::int64_t b) {
    combine(map, blocking.block(b), affine.centre.data(), affine.scale.data(), slopes.data(),
            offsets.data(), map_gradient);
  });
}

template void channel_moments(const float*, MapShape, const ParallelFor&, double*, double*);
template void channel_moments(const BFloat16*, MapShape, const ParallelFor&, double*, double*);
template void bn_silu(const float*, MapShape, const BatchNorm&, const ParallelFor&, float*);
template void bn_silu(const BFloat16*, MapShape, const BatchNorm&, const ParallelFor&, BFloat16*);
template void silu(float*, std::int64_t, const ParallelFor&);
template void silu(BFloat16*, std::int64_t, const ParallelFor&);
template void bn_silu_backward(const float*, const float*, MapShape, const BatchNorm&,
                               const ParallelFor&, float*, float*, float*);
template void bn_silu_backward(const BFloat16*, const BFloat16*, MapShape, const BatchNorm&,
                               const ParallelFor&, BFloat16*, float*, float*);

}  // namespace evolve::trainer

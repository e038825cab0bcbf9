// Bounds for comparisons with YOLOv5's numbers on processors that round otherwise.
#pragma once

namespace evolve::test {

/// The reference numbers were made with AVX-512. There torch's operators give the same bits, and
/// `same` holds; other vector instructions add in another order, and what batch norm over a few
/// pixels makes of that in the very case is `other`: twice what was measured with AVX2.
inline double bound_of(double same, double other) {
  return __builtin_cpu_supports("avx512f") ? same : other;
}

}  // namespace evolve::test

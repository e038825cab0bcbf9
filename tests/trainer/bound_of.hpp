// Bounds for comparisons with YOLOv5's numbers where arithmetic rounds otherwise.
#pragma once

#include <torch/version.h>

namespace evolve::test {

/// The reference numbers were made with torch 1.13 and AVX-512. There torch's operators give the
/// same bits; other vector instructions, and the convolutions of another version of torch (another
/// oneDNN), add in another order.
inline bool rounds_as_the_reference() {
#if defined(__x86_64__)
  constexpr bool same_torch = TORCH_VERSION_MAJOR == 1 && TORCH_VERSION_MINOR == 13;
  return same_torch && __builtin_cpu_supports("avx512f");
#else
  return false;
#endif
}

/// Where the bits are the same, `same` holds; what batch norm over a few pixels makes of another
/// rounding in the very case is `other`: twice what was measured with AVX2.
inline double bound_of(double same, double other) {
  return rounds_as_the_reference() ? same : other;
}

}  // namespace evolve::test

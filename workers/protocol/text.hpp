// Words from elsewhere, made fit to be repeated.
#pragma once

#include <string>
#include <string_view>

#include "hyp/outcome.hpp"

namespace evolve::workers {

/// The last line of `raw` that is not blank, or its beginning (core::excerpt()); "" if there is
/// none. A carriage return ends a line too, as progress bars use it. What `srun` adds when
/// a program has ended, and PyTorch's advice about errors on a GPU, count only where there is no
/// other.
std::string last_line(std::string_view raw);

/// What a trainer's last words say of its end: `oom` or `device_lost` in the words of PyTorch,
/// CUDA, SYCL and C++, else `otherwise`. Memory comes first: Intel's driver reports a lost device
/// after too large an allocation.
hyp::FailureKind kind_in(std::string_view words, hyp::FailureKind otherwise);

}  // namespace evolve::workers

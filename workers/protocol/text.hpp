// Words from elsewhere, made fit to be repeated.
#pragma once

#include <string>
#include <string_view>

#include "hyp/outcome.hpp"

namespace evolve::workers {

/// The beginning of `raw` (at most `most` bytes, then "…") as valid UTF-8 without control
/// characters.
std::string printable(std::string_view raw, std::size_t most = 200);

/// The last line of `raw` that is not blank, printable; "" if there is none. A carriage return ends
/// a line too, as progress bars use it.
std::string last_line(std::string_view raw);

/// What a trainer's last words say of its end: `oom` or `device_lost` in the words of PyTorch,
/// CUDA, SYCL and C++, else `otherwise`. Memory comes first: Intel's driver reports a lost device
/// after too large an allocation.
hyp::FailureKind kind_in(std::string_view words, hyp::FailureKind otherwise);

}  // namespace evolve::workers

// Loops on torch's own threads. Torch-free to include.
#pragma once

#include <cstdint>
#include <functional>

namespace evolve::trainer {

/// Runs f(0) … f(count - 1) in any order on at most at::get_num_threads() of torch's threads, the
/// caller's among them. Rethrows what one of them threw.
void parallel_for(std::int64_t count, const std::function<void(std::int64_t)>& f);

}  // namespace evolve::trainer

#include "trainer/model/parallel.hpp"

#include <ATen/Parallel.h>
#include <ATen/TensorIterator.h>
#include <torch/types.h>

#include <algorithm>
#include <atomic>

namespace evolve::trainer {

// at::parallel_for is an inline function that is silently a plain loop unless the including
// file is compiled with -fopenmp and so tied to a libgomp, which may be another one than
// libtorch's. A pool besides torch's would compete with torch's threads, which go on spinning for a
// while after each operator. But the loop of a tensor iterator is compiled into libtorch: over a
// tensor with one element per thread it lends those threads.
void parallel_for(std::int64_t count, const std::function<void(std::int64_t)>& f) {
  const auto threads = std::min<std::int64_t>(at::get_num_threads(), count);
  std::atomic<std::int64_t> next = 0;
  const auto work = [&](char**, const std::int64_t*, std::int64_t) {
    for (auto i = next++; i < count; i = next++) f(i);
  };
  if (threads < 2) return work(nullptr, nullptr, 0);
  auto one_per_thread = torch::empty({threads}, torch::kByte);
  at::TensorIterator::nullary_op(one_per_thread).for_each(work, /*grain_size=*/1);
}

}  // namespace evolve::trainer

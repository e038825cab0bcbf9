// On which CPU cores a thread may run.
#pragma once

#include <sched.h>

#include <cstddef>
#include <vector>

namespace evolve::core {

/// A set of CPU cores, by their numbers from 0, as the system takes it.
class CoreMask {
 public:
  explicit CoreMask(const std::vector<int>& cores);

  /// Where the calling thread may run; empty when the system does not say.
  static CoreMask of_this_thread();

  /// Binds the calling thread, and the threads and processes that it starts from then on. False,
  /// and errno, when the system refuses, for instance because none of the cores is the container's.
  /// Allocates nothing: a child of a process with threads may call it.
  bool bind_this_thread() const noexcept;

  /// In ascending order.
  std::vector<int> cores() const;

 private:
  CoreMask() = default;
  std::size_t bytes() const { return words_.size() * sizeof(cpu_set_t); }

  std::vector<cpu_set_t> words_;
};

}  // namespace evolve::core

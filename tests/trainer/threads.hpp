// The number of torch's threads while a test runs.
#pragma once

#include <ATen/Parallel.h>

namespace evolve::test {

/// Sets it and puts it back. YOLOv5's numbers were made with one thread: with more, torch takes
/// other paths for 1x1 convolutions, which round otherwise.
class Threads {
 public:
  explicit Threads(int count) : before_(at::get_num_threads()) { at::set_num_threads(count); }
  ~Threads() { at::set_num_threads(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_;
};

}  // namespace evolve::test

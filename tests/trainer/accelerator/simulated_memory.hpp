// The memory of the simulated accelerator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

namespace evolve::test {

/// Memory that the host has addresses of and cannot touch: a read or a write there ends the process
/// with a segmentation fault. Kernels see the same bytes at other addresses. Fresh memory is full
/// of NaNs. Safe to use from several threads.
class SimulatedMemory {
 public:
  explicit SimulatedMemory(std::size_t bytes);
  SimulatedMemory(const SimulatedMemory&) = delete;
  SimulatedMemory& operator=(const SimulatedMemory&) = delete;

  /// Null when it is full.
  void* allocate(std::size_t bytes);
  void release(void* address);
  /// Bytes in all, and those that have been handed out, used or free again: as an allocator that
  /// keeps what is freed counts them.
  std::size_t size() const { return size_; }
  std::size_t reserved();

  bool holds(const void* address) const { return inside(device_, address); }
  bool kernels_see(const void* address) const { return inside(kernel_, address); }
  /// Where kernels find what the host knows by `address`.
  void* for_kernels(void* address) const;

 private:
  bool inside(const std::byte* begin, const void* address) const;

  std::size_t size_;
  /// The same pages twice: without any access, and with all.
  std::byte *device_, *kernel_;
  std::mutex mutex_;
  std::size_t used_ = 0;
  std::map<std::size_t, std::vector<void*>> free_;
  std::map<void*, std::size_t> sizes_;
};

}  // namespace evolve::test

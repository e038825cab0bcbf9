#include "tests/trainer/accelerator/simulated_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace evolve::test {
namespace {

std::byte* map(std::size_t size, int access, int file) {
  void* address = mmap(nullptr, size, access, MAP_SHARED | MAP_NORESERVE, file, 0);
  if (address == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  return static_cast<std::byte*>(address);
}

}  // namespace

SimulatedMemory::SimulatedMemory(std::size_t bytes) : size_(bytes) {
  const int file = memfd_create("simulated accelerator", 0);
  if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0)
    throw std::system_error(errno, std::generic_category(), "memfd_create");
  device_ = map(bytes, PROT_NONE, file);
  kernel_ = map(bytes, PROT_READ | PROT_WRITE, file);
  close(file);
}

void* SimulatedMemory::allocate(std::size_t bytes) {
  constexpr std::size_t block = 512;  // as the allocators of torch's own accelerators
  const std::size_t whole = (bytes + block - 1) / block * block;
  const std::lock_guard lock(mutex_);
  auto& free = free_[whole];
  void* address = nullptr;
  if (!free.empty()) {
    address = free.back();
    free.pop_back();
  } else if (whole <= size_ - used_) {
    address = device_ + used_;
    used_ += whole;
    sizes_[address] = whole;
  } else {
    return nullptr;
  }
  std::memset(for_kernels(address), 0xff, whole);
  return address;
}

void SimulatedMemory::release(void* address) {
  const std::lock_guard lock(mutex_);
  free_[sizes_.at(address)].push_back(address);
}

std::size_t SimulatedMemory::reserved() {
  const std::lock_guard lock(mutex_);
  return used_;
}

void* SimulatedMemory::for_kernels(void* address) const {
  return kernel_ + (static_cast<std::byte*>(address) - device_);
}

bool SimulatedMemory::inside(const std::byte* begin, const void* address) const {
  const auto* byte = static_cast<const std::byte*>(address);
  return byte >= begin && byte < begin + size_;
}

}  // namespace evolve::test

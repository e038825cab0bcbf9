#include "trainer/ranks/shared_numbers.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace evolve::trainer {
namespace {

[[noreturn]] void fail() {
  throw std::system_error(errno, std::system_category(), "memory that the ranks share");
}

}  // namespace

SharedNumbers::~SharedNumbers() {
  unmap();
}

SharedNumbers::SharedNumbers(SharedNumbers&& other) noexcept {
  *this = std::move(other);
}

SharedNumbers& SharedNumbers::operator=(SharedNumbers&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(processes_, other.processes_);
  std::swap(numbers_, other.numbers_);
  std::swap(memory_, other.memory_);
  return *this;
}

std::size_t SharedNumbers::bytes(std::size_t numbers) const {
  return (static_cast<std::size_t>(processes_) + 1) * numbers * sizeof(float);
}

void SharedNumbers::unmap() {
  if (memory_) ::munmap(std::exchange(memory_, nullptr), bytes(numbers_));
}

void SharedNumbers::grow(std::size_t numbers) {
  // Pages are taken now: one that is missing later would be a bus error.
  const int error = ::posix_fallocate(file_.number(), 0, static_cast<off_t>(bytes(numbers)));
  if (error == 0) return;
  errno = error;
  fail();
}

void SharedNumbers::map(std::size_t numbers) {
  unmap();
  void* memory =
      ::mmap(nullptr, bytes(numbers), PROT_READ | PROT_WRITE, MAP_SHARED, file_.number(), 0);
  if (memory == MAP_FAILED) fail();
  memory_ = static_cast<float*>(memory);
  numbers_ = numbers;
}

std::span<float> SharedNumbers::row(int process) const {
  return {memory_ + static_cast<std::size_t>(process) * numbers_, numbers_};
}

void SharedNumbers::add(int process, std::size_t numbers) const {
  const auto part = [&](int p) {
    return numbers * static_cast<std::size_t>(p) / static_cast<std::size_t>(processes_);
  };
  const auto begin = part(process), size = part(process + 1) - begin;
  const auto sum = sums().subspan(begin, size);
  std::ranges::copy(row(0).subspan(begin, size), sum.begin());
  for (int p = 1; p < processes_; ++p) {
    const auto more = row(p).subspan(begin, size);
    for (std::size_t i = 0; i < size; ++i) sum[i] += more[i];
  }
}

}  // namespace evolve::trainer

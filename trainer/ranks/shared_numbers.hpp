// Memory that processes share to add up numbers.
#pragma once

#include <cstddef>
#include <span>

#include "core/file_descriptor.hpp"

namespace evolve::trainer {

/// A row of numbers for each process and one for their sum, in a file in memory.
class SharedNumbers {
 public:
  SharedNumbers() = default;
  SharedNumbers(core::FileDescriptor file, int processes)
      : file_(std::move(file)), processes_(processes) {}
  ~SharedNumbers();
  SharedNumbers(SharedNumbers&& other) noexcept;
  SharedNumbers& operator=(SharedNumbers&& other) noexcept;

  /// Makes the file large enough for rows of so many numbers; by one process, before the others
  /// call map(). Throws std::system_error.
  void grow(std::size_t numbers);
  /// Throws std::system_error.
  void map(std::size_t numbers);
  /// How long the rows are.
  std::size_t size() const { return numbers_; }

  std::span<float> row(int process) const;
  std::span<float> sums() const { return row(processes_); }
  /// Writes the sums of the first `numbers` columns, as far as they are this process' part of them:
  /// every one is added up by one process.
  void add(int process, std::size_t numbers) const;

 private:
  std::size_t bytes(std::size_t numbers) const;
  void unmap();

  core::FileDescriptor file_;
  int processes_ = 1;
  std::size_t numbers_ = 0;
  float* memory_ = nullptr;
};

}  // namespace evolve::trainer

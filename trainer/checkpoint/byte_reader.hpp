// Bytes taken from the front, numbers little-endian: what pickles and zip archives are made of.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace evolve::trainer {

/// Takes bytes one after the other, never beyond the end: throws std::runtime_error saying that
/// `what` ends early.
class ByteReader {
 public:
  ByteReader(std::string_view bytes, const char* what)
      : rest_(bytes), size_(bytes.size()), what_(what) {}

  /// How many bytes have been taken.
  std::size_t position() const { return size_ - rest_.size(); }

  std::string_view take(std::uint64_t count) {
    if (count > rest_.size()) throw ends_early();
    const auto taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  /// An unsigned number of `bytes` bytes, 8 at most.
  std::uint64_t number(int bytes) {
    std::uint64_t value = 0;
    const auto taken = take(static_cast<std::uint64_t>(bytes));
    for (int i = bytes - 1; i >= 0; --i) {
      value = value << 8 | static_cast<unsigned char>(taken[static_cast<std::size_t>(i)]);
    }
    return value;
  }

  /// Up to the next line feed, which is taken too.
  std::string_view line() {
    const auto end = rest_.find('\n');
    if (end == std::string_view::npos) throw ends_early();
    const auto text = take(end);
    take(1);
    return text;
  }

 private:
  std::runtime_error ends_early() const {
    return std::runtime_error(std::string(what_) + " ends early");
  }

  std::string_view rest_;
  std::size_t size_;
  const char* what_;
};

}  // namespace evolve::trainer

// Values as bytes and back, for files that only this machine reads.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace evolve::data {

class RecordWriter {
 public:
  template <class T>
  void value(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  template <class T>
  void values(const std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    value(std::uint64_t{values.size()});
    bytes_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  }
  void text(std::string_view text) {
    value(std::uint64_t{text.size()});
    bytes_.append(text);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// Reads what a RecordWriter wrote, in its order. Throws std::out_of_range beyond the end.
class RecordReader {
 public:
  explicit RecordReader(std::string_view bytes) : rest_(bytes) {}

  template <class T>
  T value() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  template <class T>
  std::vector<T> values() {
    const auto count = value<std::uint64_t>();
    if (count > rest_.size() / sizeof(T)) throw std::out_of_range("records end early");
    std::vector<T> values(count);
    if (count > 0) std::memcpy(values.data(), take(count * sizeof(T)).data(), count * sizeof(T));
    return values;
  }
  std::string_view text() { return take(value<std::uint64_t>()); }

 private:
  std::string_view take(std::uint64_t count) {
    if (count > rest_.size()) throw std::out_of_range("records end early");
    const auto taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  std::string_view rest_;
};

}  // namespace evolve::data

// Numbers as text, both ways, independent of the locale.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace evolve::core {

/// Shortest decimal form that reads back as the same double: "0.01", "1e-05", "3".
std::string shortest(double value);

/// Shortest decimal form as a YAML 1.1 float, as PyYAML needs it: "0.01", "1.0e-05", "3.0".
std::string yaml_float(double value);

/// "1 epoch", "2 epochs", "3 classes".
std::string counted(std::int64_t n, std::string_view noun);

/// So many bytes as GiB, with one digit after the point: "7.5".
std::string gib(std::int64_t bytes);

/// The number that the whole text spells ("1e-5", "+.5", "3", "nan"), or nothing.
std::optional<double> parse_number(std::string_view text);

/// The whole number that the whole text spells ("0", "12", "-3"), or nothing; also where `T` does
/// not hold it.
template <std::integral T>
std::optional<T> parse_integer(std::string_view text) {
  T value = 0;
  const auto* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && rest == end ? std::optional(value) : std::nullopt;
}

}  // namespace evolve::core

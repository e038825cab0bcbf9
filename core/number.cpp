#include "core/number.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace evolve::core {

std::string shortest(double value) {
  // fmt's default is the shortest round trip with Python's choice of when to use an exponent;
  // std::to_chars would write 0.0005 as 5e-04.
  return fmt::format("{}", value);
}

std::string yaml_float(double value) {
  if (std::isnan(value)) return ".nan";
  if (std::isinf(value)) return value > 0 ? ".inf" : "-.inf";
  std::string text = shortest(value);
  if (text.find('.') != std::string::npos) return text;
  const auto exponent = text.find('e');
  return text.insert(exponent == std::string::npos ? text.size() : exponent, ".0");
}

std::string counted(std::int64_t n, std::string_view noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : noun.ends_with('s') ? "es" : "s");
}

std::string gib(std::int64_t bytes) {
  return fmt::format("{:.1f}", static_cast<double>(bytes) / (1 << 30));
}

std::optional<double> parse_number(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  double value = 0;
  const auto* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end) return std::nullopt;
  return value;
}

}  // namespace evolve::core

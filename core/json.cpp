#include "core/json.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace evolve::core {
namespace {

constexpr std::array<std::string_view, 3> no_numbers = {"NaN", "Infinity", "-Infinity"};

/// The number with which a text begins, or "": all of the letters that numbers have.
std::string_view leading_number(std::string_view text) {
  return text.substr(0, text.find_first_not_of("+-.0123456789eE"));
}

}  // namespace

std::string with_quoted_nans(std::string_view line) {
  std::string quoted;
  bool in_text = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const auto rest = line.substr(i);
    const auto none = std::ranges::find_if(
        no_numbers, [&](auto word) { return !in_text && rest.starts_with(word); });
    if (none != no_numbers.end()) {
      quoted.append("\"").append(*none).append("\"");
      i += none->size() - 1;
      continue;
    }
    const auto number = in_text ? std::string_view() : leading_number(rest);
    if (!number.empty()) {
      const double value = std::strtod(std::string(number).c_str(), nullptr);
      quoted += std::isfinite(value) ? number : value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
      i += number.size() - 1;
      continue;
    }
    quoted += line[i];
    if (line[i] == '"') in_text = !in_text;
    if (in_text && line[i] == '\\' && i + 1 < line.size()) quoted += line[++i];
  }
  return quoted;
}

bool is_quoted_nan(const nlohmann::ordered_json& value) {
  return std::ranges::any_of(no_numbers, [&](auto word) { return value == word; });
}

nlohmann::ordered_json json_in(std::string_view line) {
  auto json = nlohmann::ordered_json::parse(line, nullptr, false);
  if (json.is_discarded())
    json = nlohmann::ordered_json::parse(with_quoted_nans(line), nullptr, false);
  return json;
}

}  // namespace evolve::core

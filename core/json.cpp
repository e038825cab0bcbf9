#include "core/json.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <vector>

namespace evolve::core {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t deepest = 100;
constexpr std::array<std::string_view, 3> no_numbers = {"NaN", "Infinity", "-Infinity"};

/// The number with which a text begins, or "": all of the letters that numbers have.
std::string_view leading_number(std::string_view text) {
  return text.substr(0, text.find_first_not_of("+-.0123456789eE"));
}

/// Half of a character beyond U+FFFF, as JSON escapes it.
enum class Half { none, first, second };

/// What a text begins with.
Half leading_half(std::string_view text) {
  unsigned code = 0;
  if (text.size() < 6 || !text.starts_with("\\u")) return Half::none;
  const auto* const digits = text.data() + 2;
  if (std::from_chars(digits, digits + 4, code, 16).ptr != digits + 4) return Half::none;
  if (code < 0xd800 || code > 0xdfff) return Half::none;
  return code < 0xdc00 ? Half::first : Half::second;
}

/// JSON with U+FFFD for each half whose other one is missing: so Python writes a file name that is
/// not UTF-8, and a parser refuses it.
std::string with_whole_characters(std::string_view json) {
  std::string whole;
  for (std::size_t i = 0, length = 0; i < json.size(); i += length) {
    const auto rest = json.substr(i);
    const auto half = leading_half(rest);
    const bool is_whole = half == Half::first && leading_half(rest.substr(6)) == Half::second;
    length = is_whole ? 12 : half != Half::none ? 6 : rest.front() == '\\' ? 2 : 1;
    whole += half == Half::none || is_whole ? rest.substr(0, length) : "\\ufffd";
  }
  return whole;
}

/// As bounded_json(), with so many objects and lists in each other at most.
Json parsed(std::string_view text, std::size_t most_levels) {
  using Event = Json::parse_event_t;
  std::vector<std::size_t> keys;  // of the objects and lists that are open
  const auto limit = [&](int, Event event, const Json&) {
    if (event == Event::object_start || event == Event::array_start) keys.push_back(0);
    if (event == Event::object_end || event == Event::array_end) keys.pop_back();
    if (keys.size() > most_levels) throw std::length_error("is nested too deeply");
    if (event == Event::key && ++keys.back() > most_keys)
      throw std::length_error("has too many keys");
    return true;
  };
  return Json::parse(text, limit, /*allow_exceptions=*/false);
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

bool is_quoted_nan(const Json& value) {
  return std::ranges::any_of(no_numbers, [&](auto word) { return value == word; });
}

Json bounded_json(std::string_view text) {
  return parsed(text, deepest);
}

Json json_in(std::string_view line) {
  constexpr auto any = std::numeric_limits<std::size_t>::max();
  auto json = parsed(line, any);
  if (json.is_discarded()) json = parsed(with_whole_characters(with_quoted_nans(line)), any);
  return json;
}

}  // namespace evolve::core

#include "core/utf8.hpp"

#include <algorithm>
#include <cstddef>

#include "core/json.hpp"

namespace evolve::core {
namespace {

bool begins_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
}

/// The bytes of the character with which the text begins, where it has several and ends a line, or
/// tells a terminal what to do: U+0080 to U+009F, line and paragraph separators, and those that
/// turn the direction of what follows. Else 0.
std::size_t long_control(std::string_view text) {
  const auto at = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  if (at(0) == 0xC2 && at(1) >= 0x80 && at(1) < 0xA0) return 2;
  const bool turns = at(1) == 0x81 && at(2) >= 0xA6 && at(2) <= 0xA9;  // U+2066 to U+2069
  const bool ends = at(1) == 0x80 && at(2) >= 0xA8 && at(2) <= 0xAE;   // U+2028 to U+202E
  return at(0) == 0xE2 && (turns || ends) ? 3 : 0;
}

}  // namespace

std::string valid_utf8(const std::string& text) {
  if (std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; }))
    return text;
  // JSON's writer knows what is not UTF-8.
  return nlohmann::json::parse(json_text(nlohmann::json(text)));
}

std::string one_line(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  std::string line;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto control = long_control(text.substr(i));
    line += at(i) < 0x20 || at(i) == 0x7f || control > 0 ? ' ' : text[i];
    if (control > 0) i += control - 1;
  }
  return line;
}

std::string printable(const std::string& text) {
  return one_line(valid_utf8(text));
}

std::string excerpt(std::string_view text, std::size_t most) {
  if (text.size() <= most) return printable(std::string(text));
  for (int more = 0; more < 3 && most > 0 && !begins_character(text[most]); ++more) --most;
  return printable(std::string(text.substr(0, most))) + "…";
}

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, begins_character));
}

std::size_t place_of_character(std::string_view text, std::size_t number) {
  std::size_t place = 0;
  while (place < text.size() && (!begins_character(text[place]) || number-- > 0)) ++place;
  return place;
}

std::string without_end(std::string_view text, std::size_t most) {
  if (characters(text) <= most) return std::string(text);
  return std::string(text.substr(0, place_of_character(text, most - 1))) + "…";
}

std::string without_beginning(std::string_view text, std::size_t most) {
  const auto all = characters(text);
  if (all <= most) return std::string(text);
  return "…" + std::string(text.substr(place_of_character(text, all - most + 1)));
}

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  if (text.starts_with(mark)) text.remove_prefix(mark.size());
  return text;
}

}  // namespace evolve::core

#include "core/utf8.hpp"

#include <algorithm>

#include "core/json.hpp"

namespace evolve::core {

std::string valid_utf8(const std::string& text) {
  if (std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; }))
    return text;
  // JSON's writer knows what is not UTF-8.
  return nlohmann::json::parse(json_text(nlohmann::json(text)));
}

std::string one_line(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return text;
}

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  if (text.starts_with(mark)) text.remove_prefix(mark.size());
  return text;
}

}  // namespace evolve::core

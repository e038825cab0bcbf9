#include "core/split.hpp"

namespace evolve::core {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\n\v\f\r";
  const auto first = text.find_first_not_of(blanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  if (text.empty()) return parts;
  for (;;) {
    const auto end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == text.npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string> split_and_trim(std::string_view text, char separator) {
  auto parts = split(trimmed(text), separator);
  for (auto& part : parts) part = std::string(trimmed(part));
  return parts;
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

std::optional<std::string> take_line(std::string& received) {
  const auto end = received.find('\n');
  if (end == received.npos) return {};
  auto line = received.substr(0, end);
  received.erase(0, end + 1);
  return line;
}

}  // namespace evolve::core

#include "core/shell_word.hpp"

#include <string_view>

namespace evolve::core {

std::string shell_word(const std::string& text) {
  constexpr std::string_view harmless =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./:=+,@%";
  if (!text.empty() && text.find_first_not_of(harmless) == text.npos) return text;
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += R"('\'')";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

}  // namespace evolve::core

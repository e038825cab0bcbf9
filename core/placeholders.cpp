#include "core/placeholders.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "core/error.hpp"
#include "core/shell_word.hpp"

namespace evolve::core {
namespace {

/// A name in braces at the beginning of `text`, with them; empty when there is none.
std::string_view placeholder_at(std::string_view text) {
  const auto is_of_a_name = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  if (!text.starts_with('{')) return {};
  const auto name = text.substr(1);
  const auto end = std::ranges::find_if_not(name, is_of_a_name);
  if (end == name.begin() || end == name.end() || *end != '}') return {};
  return text.substr(0, static_cast<std::size_t>(end - name.begin()) + 2);
}

/// Calls `on_placeholder` with each name in braces, `on_byte` with each byte between them.
template <class OnPlaceholder, class OnByte>
void for_each_part(std::string_view text, OnPlaceholder on_placeholder, OnByte on_byte) {
  for (char before = 0; !text.empty();) {
    const auto found = before == '$' ? std::string_view() : placeholder_at(text);
    before = text.front();
    if (found.empty()) {
      on_byte(before);
      text.remove_prefix(1);
    } else {
      on_placeholder(found);
      text.remove_prefix(found.size());
    }
  }
}

}  // namespace

bool mentions(std::string_view text, std::string_view placeholder) {
  bool found = false;
  for_each_part(
      text, [&](std::string_view name) { found = found || name == placeholder; }, [](char) {});
  return found;
}

std::string filled(std::string_view word, const Replacements& replacements) {
  std::string result;
  for_each_part(
      word,
      [&](std::string_view name) {
        const auto found = replacements.find(name);
        result += found == replacements.end() ? std::string(name) : found->second;
      },
      [&](char c) { result += c; });
  return result;
}

std::vector<std::string> command_words(const std::string& text, const std::string& option,
                                       const std::vector<std::string>& known) {
  auto words = shell_words(text, option);
  for (const auto& word : words) {
    for_each_part(
        word,
        [&](std::string_view name) {
          if (std::ranges::find(known, name) == known.end())
            throw bad_argument(fmt::format("{}: {} stands for nothing", option, name),
                               fmt::format("choose among {}", fmt::join(known, " ")));
        },
        [](char) {});
  }
  return words;
}

}  // namespace evolve::core

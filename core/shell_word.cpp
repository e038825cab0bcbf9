#include "core/shell_word.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/error.hpp"

namespace evolve::core {
namespace {

/// Those of evolve: it would take a folder that is called so for the command.
constexpr std::array<std::string_view, 8> commands = {"train",  "val",    "plot",    "explain",
                                                      "report", "export", "devices", "dataset"};

constexpr std::string_view blanks = " \t\r\n";

/// Inside double quotes a backslash is special before these only.
constexpr std::string_view escapable = "$`\"\\";

/// Whether a shell would take `next`, which stands outside quotes after `word`, for its own: "|",
/// "&&", ">log", "2>&1". Within a word it may be part of a name.
bool is_operator(char next, const std::string& word) {
  if (word.empty()) return std::string_view("|&;<>").find(next) != std::string_view::npos;
  const bool number = word.find_first_not_of("0123456789") == word.npos;
  return number && (next == '<' || next == '>');
}

}  // namespace

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

std::string shell_folder(const std::string& path) {
  const bool is_else = path.starts_with('-') || std::ranges::count(commands, path) > 0;
  return shell_word((is_else ? "./" : "") + path);
}

// Not Boost.Program_options' split_unix(): there any quote closes any other, so that 'print("hi")'
// loses its inner quotes, and an empty word is dropped.
std::vector<std::string> shell_words(std::string_view text, const std::string& option) {
  std::vector<std::string> words;
  std::optional<std::string> word;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (!quote && blanks.find(c) != blanks.npos) {
      if (word) words.push_back(*std::exchange(word, {}));
      continue;
    }
    if (quote != '\'' && text.substr(i, 2) == "\\\n") {  // a line that goes on
      ++i;
      continue;
    }
    if (!word) word = "";
    if (c == quote) {
      quote = 0;
    } else if (!quote && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == '\\' && quote != '\'') {
      if (i + 1 == text.size())
        throw bad_argument(option + ": nothing follows the last \\", "write \\\\ for a backslash");
      const char next = text[++i];
      if (quote && escapable.find(next) == escapable.npos) *word += c;
      *word += next;
    } else if (!quote && is_operator(c, *word)) {
      throw bad_argument(fmt::format("{}: {} needs a shell, and there is none", option, c),
                         "write bash -c 'a | b', or quote it");
    } else {
      *word += c;
    }
  }
  if (quote)
    throw bad_argument(option + ": a " + quote + " is not closed",
                       std::string("write a second ") + quote + ", or \\" + quote);
  if (word) words.push_back(*word);
  if (words.empty())
    throw bad_argument(option + ": it is empty", "write a program and its arguments");
  return words;
}

}  // namespace evolve::core

// The words of a shell's command line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace evolve::core {

/// `text` as a POSIX shell reads it back as this one word: in single quotes where it has to be.
std::string shell_word(const std::string& text);

/// A folder's path as such a word, which evolve takes for neither an option nor a command of its
/// own: "./plot", "exp".
std::string shell_folder(const std::string& path);

/// The words of a command line, as a POSIX shell would split it: blanks separate, '…' is literal,
/// "…" and backslashes work as in a shell. Nothing is expanded: no variables, no patterns.
/// Throws `Error` that names `option` when the text is blank, a quote is not closed, a backslash
/// ends it or a word begins with what a shell does itself (| & ; < > outside quotes).
std::vector<std::string> shell_words(std::string_view text, const std::string& option);

}  // namespace evolve::core

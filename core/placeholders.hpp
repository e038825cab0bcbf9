// Words of a command with {placeholders}.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace evolve::core {

/// Placeholders, with their braces, and what stands in their place.
using Replacements = std::map<std::string, std::string, std::less<>>;

/// Whether `text` has this placeholder ("{index}").
bool mentions(std::string_view text, std::string_view placeholder);

/// `word` with each of the placeholders replaced, once: braces in a value are not placeholders.
std::string filled(std::string_view word, const Replacements& replacements);

/// The words of a command line, split as a shell does. A name in braces must be one of `known`, as
/// long as no $ stands before it. Throws `Error` that names `option`.
std::vector<std::string> command_words(const std::string& text, const std::string& option,
                                       const std::vector<std::string>& known);

}  // namespace evolve::core

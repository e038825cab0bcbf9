// Lists with one character between their parts.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace evolve::core {

/// A text without the blanks around it.
std::string_view trimmed(std::string_view text);

/// The parts of a text; one that is empty has none. "a,,b," has four.
std::vector<std::string> split(std::string_view text, char separator);

/// The parts of a text without the blanks around each; a text that is blank has none.
std::vector<std::string> split_and_trim(std::string_view text, char separator);

/// What is before the first newline: torch's messages go on with a stack trace.
std::string first_line(const std::string& text);

/// The first line of what was received so far, taken off it, without its newline; nothing: none has
/// ended yet.
std::optional<std::string> take_line(std::string& received);

}  // namespace evolve::core

// Text of unknown encoding, as what only takes UTF-8 (JSON) needs it.
#pragma once

#include <string>
#include <string_view>

namespace evolve::core {

/// The text with U+FFFD for bytes that are not UTF-8.
std::string valid_utf8(const std::string& text);

/// The text, UTF-8, with a blank for each line end and other control character.
std::string one_line(std::string_view text);

/// Text of unknown encoding as one line that a person can be shown: both of these.
std::string printable(const std::string& text);

/// The text without the byte order mark that editors and spreadsheets begin a file with.
std::string_view without_byte_order_mark(std::string_view text);

}  // namespace evolve::core

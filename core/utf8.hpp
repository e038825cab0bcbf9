// Text of unknown encoding, as what only takes UTF-8 (JSON) needs it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace evolve::core {

/// The text with U+FFFD for bytes that are not UTF-8.
std::string valid_utf8(const std::string& text);

/// The text, UTF-8, with a blank for each line end and other control character.
std::string one_line(std::string_view text);

/// Text of unknown encoding as one line that a person can be shown: both of these.
std::string printable(const std::string& text);

/// The beginning of it (at most `most` bytes, then "…"), printable.
std::string excerpt(std::string_view text, std::size_t most = 200);

/// How many characters (code points) the text, UTF-8, has. All of ours are one column wide.
std::size_t characters(std::string_view text);

/// Where the character with this number, from 0 on, begins: so many bytes are before it. The end
/// where there are not so many.
std::size_t place_of_character(std::string_view text, std::size_t number);

/// The text, UTF-8, with at most `most` characters, from 1 on: where it has more, "…" stands for
/// its end or its beginning.
std::string without_end(std::string_view text, std::size_t most);
std::string without_beginning(std::string_view text, std::size_t most);

/// The text without the byte order mark that editors and spreadsheets begin a file with.
std::string_view without_byte_order_mark(std::string_view text);

}  // namespace evolve::core

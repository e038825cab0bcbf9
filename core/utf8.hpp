// Text of unknown encoding, as what only takes UTF-8 (JSON) needs it.
#pragma once

#include <string>

namespace evolve::core {

/// The text with U+FFFD for bytes that are not UTF-8.
std::string valid_utf8(const std::string& text);

}  // namespace evolve::core

// A text as one word of a shell's command line.
#pragma once

#include <string>

namespace evolve::core {

/// `text` as a POSIX shell reads it back as this one word: in single quotes where it has to be.
std::string shell_word(const std::string& text);

}  // namespace evolve::core

// Lists with one character between their parts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace evolve::core {

/// The parts of a text; one that is empty has none. "a,,b," has four.
std::vector<std::string> split(std::string_view text, char separator);

/// The same without the blanks around each part; a text that is blank has none.
std::vector<std::string> split_and_trim(std::string_view text, char separator);

}  // namespace evolve::core

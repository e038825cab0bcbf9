// Lines for whoever reads the log.
#pragma once

#include <functional>
#include <string>

namespace evolve::data {

/// Is told a line, without its newline.
using Note = std::function<void(const std::string& line)>;

/// Writes a line to standard error.
void on_standard_error(const std::string& line);

}  // namespace evolve::data

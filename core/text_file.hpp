// Reading a small text file whole.
#pragma once

#include <cstddef>
#include <string>

#include "core/error.hpp"

namespace evolve::core {

/// The bytes of a file. Throws `Error` when it is missing, a directory, unreadable, or larger than
/// `max_bytes` (a guard against /dev/zero and a wrong path, not a quota).
std::string read_text_file(const std::string& path, std::size_t max_bytes = std::size_t{16} << 20);

/// The error for a pipe or a device in place of a file that each worker is to read.
Error no_regular_file(const std::string& path);

}  // namespace evolve::core

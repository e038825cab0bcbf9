// Reading a small text file whole.
#pragma once

#include <cstddef>
#include <string>

namespace evolve::core {

/// The bytes of a file. Throws `Error` when it is missing, a directory, unreadable, or larger than
/// `max_bytes` (a guard against /dev/zero and a wrong path, not a quota).
std::string read_text_file(const std::string& path, std::size_t max_bytes = std::size_t{16} << 20);

}  // namespace evolve::core

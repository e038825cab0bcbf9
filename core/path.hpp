// Paths without "." and "..".
#pragma once

#include <filesystem>

namespace evolve::core {

/// The path without "." and "..", its links kept, absolute or relative as it is. Where ".." follows
/// a link, the folder above the one where the link leads (absolute, without links), as the
/// operating system has it. What does not exist yet stands for itself. Throws
/// std::filesystem::filesystem_error where a folder on the way cannot be looked at.
std::filesystem::path without_dots(const std::filesystem::path& path);

}  // namespace evolve::core

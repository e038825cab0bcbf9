// Whole files, read and written.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace evolve::test {

/// The bytes of a file; "" where there is none.
inline std::string read_file(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream bytes;
  bytes << stream.rdbuf();  // throws nothing when a process of /proc ends while it is read
  return bytes.str();
}

/// Writes a file and the folders above it; gives its name back.
inline std::string write_file(const std::filesystem::path& file, const std::string& bytes) {
  if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << bytes;
  return file.string();
}

/// The file, or folder, that is open under this number.
inline std::string file_of(int descriptor) {
  return std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(descriptor)).string();
}

}  // namespace evolve::test

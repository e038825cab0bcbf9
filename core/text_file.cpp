#include "core/text_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

namespace evolve::core {

std::string read_text_file(const std::string& path, std::size_t max_bytes) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw bad_input({path}, "this is a folder", "name a file in it");
  }
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  if (!file) throw bad_input({path}, std::strerror(errno), "check the path and its permissions");

  std::string text;
  char chunk[65536];
  while (const std::size_t count = std::fread(chunk, 1, sizeof chunk, file.get())) {
    text.append(chunk, count);
    if (text.size() > max_bytes) {
      throw bad_input({path}, "this is larger than " + std::to_string(max_bytes >> 20) + " MiB",
                      "check the path");
    }
  }
  if (std::ferror(file.get())) {
    throw bad_input({path}, std::strerror(errno), "check the file and its disk");
  }
  return text;
}

Error no_regular_file(const std::string& path) {
  return bad_input({path}, "this is no regular file, which each worker could read",
                   "copy it to one");
}

}  // namespace evolve::core

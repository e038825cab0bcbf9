#include "core/durable_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/file_descriptor.hpp"
#include "core/shell_word.hpp"

namespace evolve::core {
namespace fs = std::filesystem;
namespace {

/// Returns 0 or an errno.
int write_durably(const FileDescriptor& file, const std::function<int(int)>& write) {
  if (const int error = write(file.number())) return error;
  return ::fsync(file.number()) == 0 ? 0 : errno;
}

}  // namespace

fs::path temporary_of(const fs::path& file) {
  return file.string() + ".tmp";
}

int replace_file(const fs::path& file, const fs::path& temporary,
                 const std::function<int(int descriptor)>& write) try {
  FileDescriptor descriptor(
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!descriptor.is_open()) return errno;
  int error = write_durably(descriptor, write);
  descriptor.close();
  if (!error && ::rename(temporary.c_str(), file.c_str()) != 0) error = errno;
  if (error) ::unlink(temporary.c_str());
  return error;
} catch (...) {
  ::unlink(temporary.c_str());
  throw;
}

std::string how_to_write_again(int error) {
  if (error == EMFILE || error == ENFILE) return "allow more open files (ulimit -n)";
  if (error == ENOENT) return "bring its folder back";
  if (error == EACCES || error == EPERM || error == EISDIR)
    return "look at its permissions, and at what is in its place";
  return "mend the disk";
}

std::string cannot_write(const fs::path& file, int error) {
  return file.string() + ": cannot write (" + std::strerror(error) + ")";
}

Error run_cannot_write(const fs::path& file, int error, const std::string& run) {
  return run_failed(cannot_write(file, error),
                    "all finished trials are safe: " + how_to_write_again(error) +
                        ", then go on with evolve --resume " + shell_folder(run));
}

void sync_folder(const fs::path& folder) {
  const FileDescriptor descriptor(
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some file systems can't; then there is nothing more to do.
  if (descriptor.is_open()) ::fsync(descriptor.number());
}

}  // namespace evolve::core

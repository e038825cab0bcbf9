#include "results/run_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>
#include <thread>

#include "core/durable_file.hpp"
#include "core/shell_word.hpp"
#include "results/run_directory.hpp"

namespace evolve::results {

namespace fs = std::filesystem;

namespace {

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : ".";
}

/// Removes the temporaries of `file` that killed processes have left. Another one may be at work
/// on this file at the same time, on another host too: so their age tells.
void remove_leftovers(const fs::path& file) {
  const auto begin = file.filename().string() + ".", end = std::string(".tmp");
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
  std::error_code ignored;
  for (fs::directory_iterator at(folder_of(file), ignored), none; at != none;
       at.increment(ignored)) {
    const auto name = at->path().filename().string();
    if (!name.starts_with(begin) || !name.ends_with(end)) continue;
    const auto digits_end = name.find_first_not_of("0123456789", begin.size());
    if (digits_end != name.size() - end.size()) continue;
    if (!fs::is_regular_file(at->symlink_status(ignored))) continue;
    if (at->last_write_time(ignored) < long_ago) fs::remove(at->path(), ignored);
  }
}

}  // namespace

core::FileDescriptor open_locked(const fs::path& file, int flags) {
  core::FileDescriptor descriptor(
      ::open(file.c_str(), O_RDWR | O_APPEND | O_CLOEXEC | flags, 0666));
  if (!descriptor.is_open()) {
    const int error = errno;
    // Of this moment; what is said of the folder else stays true.
    for (const int shortage : {ENOSPC, EDQUOT, EIO, EMFILE, ENFILE})
      if (error == shortage) throw write_failed(file, error);
    throw bad_input({file.string()}, std::strerror(error), "check the folder and its permissions");
  }
  // A process that was being started when evolve was killed has the lock too until it sees that.
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  do {
    if (::flock(descriptor.number(), LOCK_EX | LOCK_NB) == 0) return descriptor;
    if (errno != EWOULDBLOCK)
      throw bad_input({file.string()}, std::string("cannot lock (") + std::strerror(errno) + ")",
                      "choose a folder on another disk");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  } while (std::chrono::steady_clock::now() < until);
  throw bad_input({file.string()}, "another evolve is at work on this run",
                  "wait until it ends, or choose another folder");
}

bool is_locked(const fs::path& file) {
  const core::FileDescriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  return descriptor.is_open() && ::flock(descriptor.number(), LOCK_SH | LOCK_NB) != 0 &&
         errno == EWOULDBLOCK;
}

Error write_failed(const fs::path& file, int error) {
  const std::string what = core::cannot_write(file, error);
  const std::string mend = core::how_to_write_again(error);
  const RunDirectory run{folder_of(file)};
  const auto folder = run.root.string();
  // A disk that is dead tells nothing.
  if (holds_training(run))
    return run_failed(
        what, mend + ", then go on with evolve train --resume " + core::shell_folder(folder));
  if (!holds_run(run)) return run_failed(what, mend + ", or write elsewhere");
  return core::run_cannot_write(file, error, folder);
}

void write_atomically(const fs::path& file, std::string_view text) {
  remove_leftovers(file);
  fs::path temporary = file;
  temporary += "." + std::to_string(::getpid()) + ".tmp";
  const auto write = [&](int descriptor) { return core::write_all(descriptor, text); };
  if (const int error = core::replace_file(file, temporary, write)) throw write_failed(file, error);
}

fs::path followed(fs::path file) {
  constexpr int most = 40;  // links may lead in a circle
  std::error_code ignored;
  for (int i = 0; i < most && fs::is_symlink(file, ignored); ++i)
    file = file.parent_path() / fs::read_symlink(file, ignored);
  return file;
}

void write_output(const fs::path& file, std::string_view text) {
  std::error_code failure;
  const auto status = fs::status(file, failure);
  if (failure == std::errc::too_many_symbolic_link_levels) throw write_failed(file, ELOOP);
  if (!fs::exists(status) || fs::is_regular_file(status))
    return write_atomically(followed(file), text);
  const core::FileDescriptor stream(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  const int error = stream.is_open() ? core::write_all(stream.number(), text) : errno;
  if (error) throw write_failed(file, error);
}

}  // namespace evolve::results

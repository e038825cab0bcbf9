// The files of a run: one writer, and advice where one cannot be written.
#pragma once

#include <filesystem>
#include <string_view>

#include "core/error.hpp"
#include "core/file_descriptor.hpp"

namespace evolve::results {

/// Opens `file` to read and append (`flags`: O_CREAT, or 0), for this process alone as long as it
/// is open. Throws `Error` when it is not there, or another process has it open.
core::FileDescriptor open_locked(const std::filesystem::path& file, int flags);

/// Whether a process has `file` open as open_locked() does, as far as this machine can tell.
bool is_locked(const std::filesystem::path& file);

/// A run that cannot write `file`: "run/evolve.csv: cannot write (No space left on device); …".
Error write_failed(const std::filesystem::path& file, int error);

/// Replaces the content of `file`: a temporary of this process beside it, fsync, rename. Throws
/// `Error` (`Fault::run`) when that fails; the file then has its old content.
void write_atomically(const std::filesystem::path& file, std::string_view text);

/// Where a link leads in the end, though nothing may be there yet; any other file is itself.
std::filesystem::path followed(std::filesystem::path file);

/// Replaces, as write_atomically() does, a file that a user may have named, or put a link to: a
/// link stays one, what it leads to is replaced; anything but a regular file (a pipe, /dev/stdout)
/// is written to in place.
void write_output(const std::filesystem::path& file, std::string_view text);

}  // namespace evolve::results

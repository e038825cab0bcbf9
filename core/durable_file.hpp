// Writing so that a kill or a power cut leaves either the old or the new.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "core/error.hpp"

namespace evolve::core {

/// Where `file` is written while nobody else does: FILE.tmp. What a killed process has left there
/// is overwritten the next time.
std::filesystem::path temporary_of(const std::filesystem::path& file);

/// Replaces the content of `file` by what `write` writes to an open file, which is `temporary`, in
/// the same folder; then fsync, rename. `write` returns 0 or an errno. Returns 0, or the errno that
/// stopped it; then, and when `write` throws, the file has its old content and no temporary stays.
int replace_file(const std::filesystem::path& file, const std::filesystem::path& temporary,
                 const std::function<int(int descriptor)>& write);

/// What a person can do about that errno of a write: "mend the disk".
std::string how_to_write_again(int error);

/// "run/evolve.csv: cannot write (No space left on device)".
std::string cannot_write(const std::filesystem::path& file, int error);

/// A run of trials that cannot write `file` for this errno; `run` is its folder: "run/evolve.csv:
/// cannot write (No space left on device); all finished trials are safe: mend the disk, then …".
Error run_cannot_write(const std::filesystem::path& file, int error, const std::string& run);

/// Makes the names in a folder durable, as fsync on a file does its content.
void sync_folder(const std::filesystem::path& folder);

}  // namespace evolve::core

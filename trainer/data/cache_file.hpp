// Files that are kept from run to run: where they lie, how a machine's processes make each of them
// once, and what tells that one is out of date.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/file_descriptor.hpp"
#include "trainer/data/beat.hpp"

namespace evolve::data {

/// $XDG_CACHE_HOME/evolve, else ~/.cache/evolve; empty where neither variable is set: nothing is
/// kept then.
std::string cache_folder();
inline constexpr const char* no_cache_folder =
    "neither XDG_CACHE_HOME (an absolute path) nor HOME is set";

/// What changes when a file does.
struct FileStamp {
  /// -1: there is no such file; -2: nobody can tell.
  std::int64_t bytes = -1;
  /// When it was written last, in nanoseconds.
  std::int64_t written = 0;
  bool operator==(const FileStamp&) const = default;
};

FileStamp stamp_of(const std::string& file);

/// `folder`/`kind`-0123456789abcdef: the file of a kind that belongs to these words.
std::string cache_file(const std::string& folder, const std::string& kind,
                       std::initializer_list<std::string_view> words);

/// The right to make a file: of all processes of the machine one at a time has it, until the end of
/// its life or of the process'. FILE.lock stays behind, empty.
class MakerLock {
 public:
  /// Waits for it, and calls `beat` all the time meanwhile; after 5 s it says so on standard error.
  /// Makes the folder, for this user alone. Throws std::system_error where nothing can be written.
  MakerLock(const std::string& file, const Beat& beat);

 private:
  core::FileDescriptor descriptor_;
};

/// A file in the making, under a name of its own, FILE.0123abcd.part; to be used by who has the
/// lock. What killed processes have left in its folder, of other files too, is removed. Every call
/// throws std::system_error when it fails.
class NewFile {
 public:
  /// Takes room for so many bytes, so that a full disk is noticed first.
  NewFile(std::string file, std::uint64_t bytes, const Beat& beat);
  /// Removes what has not become the file.
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  /// Safe to call from several threads.
  void write(std::uint64_t offset, std::string_view bytes);
  /// Makes durable what has been written so far.
  void sync();
  /// Puts it in the file's place, whole; who has the old one open keeps that. Fails where somebody
  /// has removed it meanwhile.
  void replace();

 private:
  /// Whatever is thrown after it, the destructor removes the part.
  explicit NewFile(std::string file);

  std::string file_, part_;
  core::FileDescriptor descriptor_;
};

/// A file of records: a head that says what it is, how long, and its checksum.
///
/// What `read_records` gives is what `with_head` was given, or nothing where the bytes do not begin
/// with such a head, or are not whole.
std::string with_head(std::string_view kind, std::string_view records);
std::optional<std::string_view> read_records(std::string_view kind, std::string_view bytes);

}  // namespace evolve::data

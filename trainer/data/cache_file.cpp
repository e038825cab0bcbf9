#include "trainer/data/cache_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <random>
#include <system_error>
#include <thread>

#include "core/environment.hpp"
#include "trainer/checksum.hpp"

namespace evolve::data {
namespace fs = std::filesystem;
namespace {

/// Whoever waits for longer is told why.
constexpr std::chrono::seconds silent_wait{5};

std::system_error failure(int error) {
  return std::system_error(error, std::generic_category());
}

core::FileDescriptor opened(const std::string& file, int flags) {
  core::FileDescriptor descriptor(::open(file.c_str(), flags | O_CLOEXEC, 0666));
  if (!descriptor.is_open()) throw failure(errno);
  return descriptor;
}

/// Of another user's, in a folder that several share, only reading may be allowed: that is enough.
core::FileDescriptor lock_file(const std::string& file) try {
  return opened(file, O_RDWR | O_CREAT);
} catch (const std::system_error& error) {
  if (error.code() != std::errc::permission_denied) throw;
  return opened(file, O_RDONLY);
}

/// Makes a folder, and those above it, for this user alone: images may be nobody else's business.
/// One that is there stays as it is.
void make_private(const fs::path& folder) {
  if (folder.empty() || fs::is_directory(folder)) return;
  make_private(folder.parent_path());
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) throw failure(errno);
}

/// Whether the open file is the one of this name.
bool is_at(const std::string& file, const core::FileDescriptor& descriptor) {
  struct stat open {
  }, there{};
  return ::fstat(descriptor.number(), &open) == 0 && ::stat(file.c_str(), &there) == 0 &&
         open.st_dev == there.st_dev && open.st_ino == there.st_ino;
}

/// Whether somebody may be making the file: of a lock that cannot be opened nobody knows.
bool may_be_in_the_making(const std::string& file) {
  const core::FileDescriptor lock(::open((file + ".lock").c_str(), O_RDONLY | O_CLOEXEC));
  if (!lock.is_open()) return errno != ENOENT;
  return ::flock(lock.number(), LOCK_EX | LOCK_NB) != 0;
}

/// Removes what killed makers of `file`, and of the others in its folder, have left. (One of other
/// images, or in another size, may never be made again.)
void remove_leftovers(const fs::path& file) {
  std::error_code ignored;
  for (fs::directory_iterator at(file.parent_path(), ignored), none; at != none;
       at.increment(ignored)) {
    const auto& part = at->path();
    if (part.extension() != ".part") continue;
    const auto made = part.parent_path() / part.stem().stem();  // FILE.0123abcd.part
    if (made == file || !may_be_in_the_making(made)) fs::remove(part, ignored);
  }
}

/// A name that nobody else has: where the folder was removed, its lock with it, whoever had that is
/// still at work beside the next one.
std::string part_of(const std::string& file) {
  return fmt::format("{}.{:08x}.part", file, std::random_device()());
}

/// FNV-1a, 64 bits: the same in every build. Words end with a byte that none of them has.
std::uint64_t hash_of(std::initializer_list<std::string_view> words) {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&](unsigned char byte) { hash = (hash ^ byte) * 0x100000001b3; };
  for (const auto word : words) {
    for (const char byte : word) add(static_cast<unsigned char>(byte));
    add(0);
  }
  return hash;
}

/// Its bytes are this machine's: nothing else reads a cache.
struct Head {
  std::array<char, 16> kind{};
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;
};

Head head_of(std::string_view kind, std::string_view records) {
  Head head{.bytes = records.size(), .checksum = trainer::checksum_of(records)};
  std::memcpy(head.kind.data(), kind.data(), std::min(kind.size(), head.kind.size()));
  return head;
}

}  // namespace

std::string cache_folder() {
  if (const auto root = core::environment_variable("XDG_CACHE_HOME"); root.starts_with('/'))
    return root + "/evolve";
  const auto home = core::environment_variable("HOME");
  return home.empty() ? "" : home + "/.cache/evolve";
}

FileStamp stamp_of(const std::string& file) {
  struct stat found {};
  if (::stat(file.c_str(), &found) != 0)
    return {.bytes = errno == ENOENT || errno == ENOTDIR ? -1 : -2};
  return {found.st_size,
          std::int64_t{1'000'000'000} * found.st_mtim.tv_sec + found.st_mtim.tv_nsec};
}

std::string cache_file(const std::string& folder, const std::string& kind,
                       std::initializer_list<std::string_view> words) {
  return fmt::format("{}/{}-{:016x}", folder, kind, hash_of(words));
}

MakerLock::MakerLock(const std::string& file, const Beat& beat) {
  const auto lock = file + ".lock";
  const auto begun = std::chrono::steady_clock::now();
  bool said = false;
  while (true) {
    make_private(fs::path(file).parent_path());
    descriptor_ = lock_file(lock);
    while (::flock(descriptor_.number(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK && errno != EINTR) throw failure(errno);
      if (!said && std::chrono::steady_clock::now() > begun + silent_wait) {
        fmt::print(stderr, "waiting for another process, which makes {}\n", file);
        said = true;
      }
      beat(0, 0);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    // Where somebody has removed it meanwhile, others wait for a new one.
    if (is_at(lock, descriptor_)) return;
    beat(0, 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

NewFile::NewFile(std::string file) : file_(std::move(file)), part_(part_of(file_)) {
  remove_leftovers(file_);  // first of all: they take room
  descriptor_ = opened(part_, O_RDWR | O_CREAT | O_EXCL);
}

NewFile::NewFile(std::string file, std::uint64_t bytes, const Beat& beat)
    : NewFile(std::move(file)) {
  // In steps: some file systems (NFS) write all of it.
  constexpr std::uint64_t step = std::uint64_t{64} << 20;
  for (std::uint64_t begin = 0; begin < bytes;) {
    const auto more = std::min(step, bytes - begin);
    const int error = ::posix_fallocate(descriptor_.number(), static_cast<off_t>(begin),
                                        static_cast<off_t>(more));
    if (error == EINTR) continue;
    if (error) throw failure(error);
    begin += more;
    beat(0, 0);
  }
}

NewFile::~NewFile() {
  if (descriptor_.is_open()) ::unlink(part_.c_str());
}

void NewFile::write(std::uint64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto count =
        ::pwrite(descriptor_.number(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw failure(errno);
    bytes.remove_prefix(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
}

void NewFile::sync() {
  if (::fdatasync(descriptor_.number()) != 0) throw failure(errno);
}

void NewFile::replace() {
  if (::fsync(descriptor_.number()) != 0) throw failure(errno);
  if (::rename(part_.c_str(), file_.c_str()) != 0) throw failure(errno);
  descriptor_.close();
}

std::string with_head(std::string_view kind, std::string_view records) {
  const Head head = head_of(kind, records);
  std::string bytes(reinterpret_cast<const char*>(&head), sizeof head);
  return bytes.append(records);
}

std::optional<std::string_view> read_records(std::string_view kind, std::string_view bytes) {
  Head head;
  if (bytes.size() < sizeof head) return {};
  std::memcpy(&head, bytes.data(), sizeof head);
  bytes.remove_prefix(sizeof head);
  if (bytes.size() < head.bytes) return {};
  bytes = bytes.substr(0, head.bytes);
  const Head wanted = head_of(kind, bytes);
  if (head.kind != wanted.kind || head.checksum != wanted.checksum) return {};
  return bytes;
}

}  // namespace evolve::data

#include "trainer/checkpoint/archive.hpp"

#include <optional>
#include <stdexcept>

#include "trainer/checkpoint/byte_reader.hpp"
#include "trainer/checksum.hpp"

namespace evolve::trainer {
namespace {

// The parts of a zip archive, by the numbers of its specification (APPNOTE.TXT 6.3, section 4.3).
constexpr std::uint32_t local_header = 0x04034b50;
constexpr std::uint32_t directory_header = 0x02014b50;
constexpr std::uint32_t end_of_directory = 0x06054b50;
constexpr std::uint32_t zip64_end = 0x06064b50;
constexpr std::uint32_t zip64_locator = 0x07064b50;
constexpr std::size_t end_size = 22;
constexpr std::size_t locator_size = 20;
constexpr std::size_t longest_comment = 0xffff;
/// Says that the true number is in a zip64 field.
constexpr std::uint64_t in_zip64 = 0xffffffff;

/// What follows `position`, which must lie inside.
ByteReader reader_at(std::string_view bytes, std::uint64_t position) {
  if (position > bytes.size()) throw std::runtime_error("the archive ends early");
  return {bytes.substr(position), "the archive"};
}

/// Takes a signature, if it is that one.
bool begins_with(ByteReader& reader, std::uint32_t signature) {
  return reader.number(4) == signature;
}

/// Where the end record lies: at the end but for a comment.
std::size_t find_end(std::string_view bytes) {
  for (std::size_t comment = 0; comment <= longest_comment; ++comment) {
    if (bytes.size() < end_size + comment) break;
    const std::size_t place = bytes.size() - end_size - comment;
    auto reader = reader_at(bytes, place);
    if (!begins_with(reader, end_of_directory)) continue;
    reader.take(end_size - 4 - 2);
    if (reader.number(2) == comment) return place;
  }
  throw std::runtime_error("this is not a zip archive, or it ends early");
}

struct Directory {
  std::uint64_t count = 0, size = 0, place = 0;
};

/// The directory's place by the zip64 records before the end record, where there are any.
std::optional<Directory> find_zip64_directory(std::string_view bytes, std::size_t end) {
  if (end < locator_size) return {};
  auto locator = reader_at(bytes, end - locator_size);
  if (!begins_with(locator, zip64_locator)) return {};
  locator.take(4);
  auto reader = reader_at(bytes, locator.number(8));
  if (!begins_with(reader, zip64_end)) throw std::runtime_error("the archive's end is damaged");
  reader.take(8 + 2 + 2 + 4 + 4 + 8);
  Directory directory;
  directory.count = reader.number(8);
  directory.size = reader.number(8);
  directory.place = reader.number(8);
  return directory;
}

Directory find_directory(std::string_view bytes) {
  const std::size_t end = find_end(bytes);
  if (const auto directory = find_zip64_directory(bytes, end)) return *directory;
  auto reader = reader_at(bytes, end + 10);
  Directory directory;
  directory.count = reader.number(2);
  directory.size = reader.number(4);
  directory.place = reader.number(4);
  return directory;
}

/// One record as the directory describes it.
struct Entry {
  std::string name;
  std::uint64_t flags = 0, method = 0, checksum = 0, stored = 0, size = 0, place = 0;
};

/// Numbers that have no room in the header follow in a field of their own.
void read_zip64_field(std::string_view extra, Entry& entry) {
  ByteReader fields(extra, "a record's description");
  while (fields.position() < extra.size()) {
    const auto kind = fields.number(2);
    ByteReader field(fields.take(fields.number(2)), "a record's description");
    if (kind != 1) continue;
    for (auto* number : {&entry.size, &entry.stored, &entry.place}) {
      if (*number == in_zip64) *number = field.number(8);
    }
  }
}

Entry read_entry(ByteReader& directory) {
  if (!begins_with(directory, directory_header)) {
    throw std::runtime_error("the archive's directory is damaged");
  }
  Entry entry;
  directory.take(4);  // versions
  entry.flags = directory.number(2);
  entry.method = directory.number(2);
  directory.take(4);  // time
  entry.checksum = directory.number(4);
  entry.stored = directory.number(4);
  entry.size = directory.number(4);
  const auto name_size = directory.number(2);
  const auto extra_size = directory.number(2);
  const auto comment_size = directory.number(2);
  directory.take(8);  // disk, attributes
  entry.place = directory.number(4);
  entry.name = directory.take(name_size);
  read_zip64_field(directory.take(extra_size), entry);
  directory.take(comment_size);
  return entry;
}

std::string_view content(std::string_view bytes, const Entry& entry) {
  if ((entry.flags & 1) != 0 || entry.method != 0 || entry.stored != entry.size) {
    throw std::runtime_error("record " + entry.name + " is compressed or encrypted");
  }
  auto reader = reader_at(bytes, entry.place);
  if (!begins_with(reader, local_header)) {
    throw std::runtime_error("record " + entry.name + " is not where the directory says");
  }
  reader.take(22);
  const auto name_size = reader.number(2);
  const auto extra_size = reader.number(2);
  reader.take(name_size + extra_size);
  return reader.take(entry.size);
}

}  // namespace

Archive::Archive(std::string_view bytes) {
  const Directory directory = find_directory(bytes);
  auto reader = reader_at(bytes, directory.place);
  ByteReader entries(reader.take(directory.size), "the archive's directory");
  std::uint64_t total = 0;
  for (std::uint64_t i = 0; i < directory.count; ++i) {
    const Entry entry = read_entry(entries);
    const auto inside = content(bytes, entry);
    // Records that share bytes would be a bomb: a small file of many large tensors.
    total += inside.size();
    if (total > bytes.size()) throw std::runtime_error("the archive's records overlap");
    const std::string name = entry.name.substr(entry.name.find('/') + 1);
    const Record record{inside, static_cast<std::uint32_t>(entry.checksum)};
    if (!records_.emplace(name, record).second) {
      throw std::runtime_error("the archive has two records " + name);
    }
  }
}

std::string_view Archive::record(const std::string& name) const {
  const auto found = records_.find(name);
  if (found == records_.end()) throw std::runtime_error("the archive has no record " + name);
  const auto& [bytes, checksum] = found->second;
  if (checksum_of(bytes) != checksum) {
    throw std::runtime_error("record " + name + " is damaged: its checksum disagrees");
  }
  return bytes;
}

}  // namespace evolve::trainer

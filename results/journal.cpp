#include "results/journal.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "core/durable_file.hpp"
#include "core/json.hpp"
#include "core/shell_word.hpp"
#include "core/text_file.hpp"
#include "results/run_file.hpp"

namespace evolve::results {

namespace fs = std::filesystem;

namespace {

using Json = nlohmann::ordered_json;

constexpr int version = 1;
constexpr std::string_view blanks = " \t\r\n";

std::string read_all(const fs::path& file) {
  return core::read_text_file(file.string(), std::numeric_limits<std::size_t>::max());
}

/// All of an open file. Where locks are mandatory (SMB) nobody reads a locked one but through the
/// descriptor that has the lock.
std::string read_all(const core::FileDescriptor& descriptor, const fs::path& file) {
  std::string text;
  char chunk[65536];
  for (;;) {
    const auto count =
        ::pread(descriptor.number(), chunk, sizeof chunk, static_cast<off_t>(text.size()));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0)
      throw bad_input({file.string()}, std::strerror(errno), "check the file and its disk");
    if (count == 0) return text;
    text.append(chunk, static_cast<std::size_t>(count));
  }
}

Error damaged(const Where& where, const std::string& what) {
  return bad_input(where, what, "restore the journal from a copy, or start a new run");
}

/// What `parse` makes of a line's JSON.
template <class Parse>
auto read(const Json& json, const Where& where, Parse parse) {
  try {
    return parse(json);
  } catch (const std::exception& error) {
    throw damaged(where, error.what());
  }
}

RunSettings read_run(const Json& json, const Where& where) {
  const auto refuse = [&](const std::string& what) {
    return bad_input(where, what, "name the folder of a run, or start a new one");
  };
  if (!json.is_object() || json.value("event", Json()) != "run") {
    throw refuse("the first line is no run event");
  }
  const Json number = json.value("version", Json());
  if (number != version) {
    throw refuse("this journal has version " + number.dump() + ", this evolve knows version " +
                 std::to_string(version));
  }
  return read(json, where, run_settings_from_json);
}

/// Only shown: one that makes no sense is not known.
core::Time time_of(const Json& line) {
  const auto time = line.find("time");
  if (time == line.end() || !time->is_string()) return {};
  return core::parse_time(time->get_ref<const std::string&>()).value_or(core::Time{});
}

/// A journal's text, read.
struct Parsed {
  JournalContents contents;
  bool has_run = false;
  /// Bytes up to the end of the last whole line: one more than there are where it lacks its end.
  std::size_t size = 0;
};

/// A run whose very first line was torn never began.
void check_none_begun(const fs::path& file, const std::string& text) {
  if (text.find('\n') == std::string::npos) return;
  const auto folder = file.parent_path().string();
  throw bad_input(
      {folder}, "this folder holds a run already",
      "go on with it (--resume " + core::shell_folder(folder) + ") or choose another folder");
}

/// The JSON in a line, "discarded" where it is not JSON.
Json json_in(std::string_view line, const Where& where) try {
  return core::bounded_json(line);
} catch (const std::length_error& error) {
  throw damaged(where, std::string("this line ") + error.what());
}

/// Whether a line has been written to its end, and not only as far as a power cut let it, whatever
/// pages of it that were. (An editor that has saved a torn line has added the newline.)
bool is_whole(const std::string& text, std::size_t begin, std::size_t end) {
  const auto line = std::string_view(text).substr(begin, end - begin);
  const auto last = line.find_last_not_of(blanks);
  return end < text.size() && line[last] == '}' && line.find('\0') == line.npos;
}

Parsed parse(const std::string& text, const fs::path& file) {
  Parsed parsed;
  for (int line = 1; parsed.size < text.size(); ++line) {
    const Where where{file.string(), line};
    // Some editors leave out the last line's end, or add empty lines.
    const auto end = std::min(text.find('\n', parsed.size), text.size());
    if (text.find_first_not_of(blanks, parsed.size) >= end) {
      parsed.size = end + 1;
      continue;
    }
    const Json json = json_in(std::string_view(text).substr(parsed.size, end - parsed.size), where);
    if (json.is_discarded()) {
      const bool is_last = text.find_first_not_of(blanks, end) == std::string::npos;
      const bool whole = is_whole(text, parsed.size, end);
      if (!is_last || (whole && !parsed.has_run)) throw damaged(where, "this line is damaged");
      if (whole)
        throw bad_input(where, "this line is damaged",
                        "mend it, or remove it: what it tells of is then trained again");
      parsed.contents.warning = text_of(where) + ": the last line is torn and was left out";
      break;
    }
    if (!std::exchange(parsed.has_run, true)) {
      parsed.contents.run = read_run(json, where);
    } else {
      parsed.contents.events.push_back(read(json, where, event_from_json));
      parsed.contents.times.push_back(time_of(json));
    }
    parsed.size = end + 1;
  }
  if (!parsed.has_run) {
    throw bad_input({file.string()}, "this journal holds no run", "start a new run");
  }
  return parsed;
}

}  // namespace

JournalContents read_journal(const fs::path& file) {
  return parse(read_all(file), file).contents;
}

RunSettings read_run_settings(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  const Where where{file.string(), 1};
  return read_run(json_in(line, where), where);
}

void check_none_begun(const fs::path& file) {
  if (!fs::exists(file)) return;
  if (!fs::is_regular_file(file))  // whoever opens a pipe waits
    throw bad_input({file.string()}, "this is no file", "choose another folder");
  check_none_begun(file, read_all(file));
}

Journal Journal::create(const fs::path& file, const RunSettings& settings) {
  core::FileDescriptor descriptor = open_locked(file, O_CREAT);
  check_none_begun(file, read_all(descriptor, file));
  if (::ftruncate(descriptor.number(), 0) != 0) throw write_failed(file, errno);
  Journal journal(file, std::move(descriptor), 0);
  Json line = {{"event", "run"}, {"version", version}};
  line.update(to_json(settings));
  journal.append_line(line);
  journal.commit();
  core::sync_folder(file.parent_path());
  return journal;
}

std::pair<Journal, JournalContents> Journal::resume(const fs::path& file) {
  core::FileDescriptor descriptor = open_locked(file, 0);
  const auto text = read_all(descriptor, file);
  Parsed parsed = parse(text, file);
  if (parsed.size > text.size()) {
    if (const int error = core::write_all(descriptor.number(), "\n"))
      throw write_failed(file, error);
  } else if (::ftruncate(descriptor.number(), static_cast<off_t>(parsed.size)) != 0) {
    throw write_failed(file, errno);
  }
  return {Journal(file, std::move(descriptor), parsed.size), std::move(parsed.contents)};
}

JournalContents Journal::contents() const {
  return parse(read_all(descriptor_, file_), file_).contents;
}

void Journal::append_line(const Json& line) {
  // A message may hold any bytes; the journal is UTF-8.
  group_ += core::json_text(line) + "\n";
}

void Journal::append(const Event& event, core::Time time) {
  Json line = to_json(event);
  line["time"] = core::text_of(time);
  append_line(line);
}

bool Journal::cut_off() {
  torn_ = ::ftruncate(descriptor_.number(), static_cast<off_t>(size_)) != 0;
  return !torn_;
}

void Journal::check_named() const {
  const auto remedy = "restore it from a copy, then go on with evolve --resume " +
                      core::shell_folder(file_.parent_path().string());
  struct stat ours {};
  struct stat named {};
  if (::fstat(descriptor_.number(), &ours) != 0) return;
  if (!torn_ && static_cast<std::size_t>(ours.st_size) != size_)
    throw run_failed(file_.string() + ": somebody has written to it, or cut it off", remedy);
  const bool is_there = ::stat(named_.c_str(), &named) == 0;
  if (is_there ? named.st_dev == ours.st_dev && named.st_ino == ours.st_ino : errno != ENOENT)
    return;
  throw run_failed(
      file_.string() + ": somebody has moved or removed it, or put another file in its place",
      "bring it back, or " + remedy);
}

void Journal::commit() {
  if (group_.empty()) return;
  check_named();
  // Behind half a line no reader would find what is written now.
  if (torn_ && !cut_off()) throw write_failed(file_, errno);
  int error = core::write_all(descriptor_.number(), group_);
  if (!error && ::fdatasync(descriptor_.number()) != 0) error = errno;
  if (error) {
    cut_off();
    throw write_failed(file_, error);
  }
  size_ += group_.size();
  group_.clear();
  check_named();  // a disk may take seconds
}

}  // namespace evolve::results

// The durable state of a run: append-only JSON lines with one writer.
//
// The first line is the "run" event; what follows is `Event`s in the order in which they happened.
// A line counts once it is on the disk as a whole, the last one also without its newline. A power
// cut can tear the last group of lines: a torn last line is cut off. Anything else that doesn't
// read is damage, and refused: guessing would silently lose trials. (A database would bring its own
// locks and recovery; a run writes a few lines a second at most.)
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/file_descriptor.hpp"
#include "core/time.hpp"
#include "results/event.hpp"
#include "results/run_settings.hpp"

namespace evolve::results {

/// What a journal says.
struct JournalContents {
  /// The first line.
  RunSettings run;
  std::vector<Event> events;
  /// When each of them was written, where the line says it: version 0.1 wrote that of a device's
  /// figures only.
  std::vector<core::Time> times;
  /// When the last line was torn: the sentence for the user. Else empty.
  std::string warning;
};

/// Reads a journal, perhaps one that is being written. Throws `Error` with the line for damage, an
/// empty file, or a first line that is not a run of version 1 or lacks what a run has.
JournalContents read_journal(const std::filesystem::path& file);
/// Reads a journal's first line alone, whatever follows. Throws `Error` as read_journal() does for
/// that.
RunSettings read_run_settings(const std::filesystem::path& file);

/// Throws `Error` where a run has begun in this journal.
void check_none_begun(const std::filesystem::path& file);

class Journal {
 public:
  /// Begins a run with its first line, durable on return. Throws `Error` when the
  /// file holds a run already or another process has it open.
  static Journal create(const std::filesystem::path& file, const RunSettings& settings);

  /// Goes on with a run: reads it, and cuts a torn last line off the file. Throws `Error` as
  /// `read_journal` does, or when another process has it open.
  static std::pair<Journal, JournalContents> resume(const std::filesystem::path& file);

  /// Adds a line to the group that the next `commit` writes, with `time` as its time.
  void append(const Event& event, core::Time time = core::now());

  /// Writes the group and waits until it is on the disk; nothing may act on an event before that.
  /// Throws `Error` (`Fault::run`) when somebody has removed or replaced the file, or the disk is
  /// full or dead; the group is then not in the file, not even in part, and once the disk is mended
  /// a later commit writes it. (Where the disk does not even let the part be cut off, a reader
  /// leaves it out, and the later commit cuts it off first.) Throws, too, when the file was removed
  /// or replaced while that was written to it.
  void commit();

  /// Throws `Error` when the file is not the one any more that had this name when it was opened: a
  /// reader would never see what is written to it, and the folder, or one that it lies in, may be
  /// another run's now.
  void check_named() const;

  /// What it holds, without what is not committed.
  JournalContents contents() const;

 private:
  void append_line(const nlohmann::ordered_json& line);
  /// Cuts off what is not committed. False, with errno: that failed, and some may still be there.
  bool cut_off();
  Journal(std::filesystem::path file, core::FileDescriptor descriptor, std::size_t size)
      : file_(std::move(file)), descriptor_(std::move(descriptor)), size_(size) {}

  std::filesystem::path file_;
  /// The same, wherever this process' folder may move to.
  std::filesystem::path named_ = std::filesystem::absolute(file_);
  /// Holds the lock: it ends with the process, whatever way that ends.
  core::FileDescriptor descriptor_;
  /// Bytes of the committed lines.
  std::size_t size_;
  /// The file may have a part of a group behind them.
  bool torn_ = false;
  std::string group_;
};

}  // namespace evolve::results

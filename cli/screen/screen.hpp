// What the user sees while a run goes on: a live line on a terminal, plain lines in a pipe.
#pragma once

#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "core/file_descriptor.hpp"

namespace evolve::cli {

/// How long a hurried end waits for a reader that takes nothing.
inline constexpr std::chrono::milliseconds longest_hurried_wait{5000};

/// What a live line may say: as much of `text` as fits, if that has all of `least`, its beginning.
struct LiveText {
  std::string text, least;
};

/// A screen that shows texts as one line each, whatever is in them: a name may have what tells a
/// terminal what to do. Its reader nobody waits for: a terminal that is held (Ctrl-S), or whose
/// connection hangs, costs no training. What cannot be written yet is written later; the end waits
/// for it, until a signal comes (after an error for some seconds only).
class Screen {
 public:
  /// Live when `out` is a terminal that can move back (TERM is not "dumb"). While it lives SIGPIPE
  /// is ignored: who reads our output may go before a run has ended (`nohup evolve | tee` at a
  /// logout).
  explicit Screen(std::FILE* out, std::chrono::seconds between_lines = std::chrono::minutes(10));
  ~Screen();

  /// A line that stays, broken between words on a terminal.
  void line(const std::string& text);
  /// A line that stays, in one piece: a command that may be copied.
  void as_it_is(const std::string& text);
  /// A line that stays in a pipe, and on a terminal is told by the live line.
  void detail(const std::string& text);
  /// Redraws the live line: the first of these texts of which enough fits, else as much of the last
  /// one as does; in a pipe the first one as a line that stays, now and then.
  void show(const std::vector<LiveText>& texts);
  void show(const std::string& text) { show(std::vector{LiveText{.text = text, .least = ""}}); }
  /// Removes the live line.
  void clear();
  /// The end waits for a few seconds at most: somebody has asked for it.
  void hurry() { hurried_ = true; }

 private:
  void stay(const std::string& lines);
  void write(const std::string& text);
  /// As much of what waits as the reader takes; false: some of it still waits.
  bool flush();

  using Clock = std::chrono::steady_clock;

  std::FILE* out_;
  /// The same terminal or pipe, where a write does not wait; closed: see unwaiting().
  core::FileDescriptor unwaiting_;
  std::string waiting_;
  std::chrono::seconds between_lines_;
  Clock::time_point shown_ = Clock::now();
  bool live_;
  bool drawn_ = false;
  bool hurried_ = false;
  void (*broken_pipe_)(int);
};

}  // namespace evolve::cli

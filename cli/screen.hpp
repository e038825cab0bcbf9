// What the user sees while a run goes on: a live line on a terminal, plain lines in a pipe.
#pragma once

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace evolve::cli {

/// Where a run stands.
struct RunStatus {
  int planned = 0;
  int ended = 0;
  int generation = 0;
  /// 0 where --trials says when the run ends.
  int generations = 0;
  int paused = 0;
  std::optional<double> highest_fitness;
  int highest_trial = 0;
  /// Trials that this process has seen end, and the seconds it has been at work: what the rate
  /// counts.
  int ended_here = 0;
  double seconds_here = 0;
  /// With --max-epochs: epochs that were trained, those of this process, and how many there may be.
  std::int64_t epochs = 0, epochs_here = 0;
  std::optional<std::int64_t> most_epochs;
  /// Seconds until --time-limit, if there is one.
  std::optional<double> seconds_allowed;
  /// What each busy slot does: "cpu:0 trial 17 epoch 2/4".
  std::vector<std::string> busy;
};

/// "1 h 05 min", "2 min 10 s", "8 s".
std::string duration_text(double seconds);
/// "17/48 trials, 3 paused · generation 1/4 · highest 0.3312 (trial 12) · 2 min 10 s left · 812
/// trials/h"; with --max-epochs "312/520 epochs · 7 trials, 20 paused · highest … · 4120 epochs/h"
std::string status_text(const RunStatus& status);

/// A path as the user would type it: relative where that is shorter.
std::string display_path(const std::filesystem::path& path);

/// The same as a word of a shell's command line: in quotes where it has to be.
std::string shell_path(const std::filesystem::path& path);

/// The line broken between words so that each part fits into `width` columns; what follows is
/// indented as far as its words after the label, if it has one. A command ("evolve …") stays whole.
std::string wrapped(const std::string& line, std::size_t width);
/// As many of the fields "a · b · c" as fit into `width` columns, with "…" for the others.
std::string shortened(const std::string& fields, std::size_t width);

class Screen {
 public:
  /// Live when `out` is a terminal that can move back (TERM is not "dumb"). While it lives SIGPIPE
  /// is ignored: who reads our output may go before a run has ended (`nohup evolve | tee` at a
  /// logout).
  explicit Screen(std::FILE* out, std::chrono::seconds between_lines = std::chrono::minutes(10));
  ~Screen();

  /// A line that stays, broken between words on a terminal.
  void line(const std::string& text);
  /// The same in one piece: a command that may be copied.
  void as_it_is(const std::string& text);
  /// A line that stays in a pipe, and on a terminal is told by the live line.
  void detail(const std::string& text);
  /// Redraws the live line; in a pipe a line that stays, now and then.
  void show(const std::string& text);
  /// Removes the live line.
  void clear();

 private:
  void write(const std::string& text);

  using Clock = std::chrono::steady_clock;

  std::FILE* out_;
  std::chrono::seconds between_lines_;
  Clock::time_point shown_ = Clock::now();
  bool live_;
  bool drawn_ = false;
  void (*broken_pipe_)(int);
};

}  // namespace evolve::cli

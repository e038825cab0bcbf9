#include "cli/screen/screen.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <string_view>

#include "cli/screen/text.hpp"
#include "core/utf8.hpp"

namespace evolve::cli {
namespace {

/// The terminal's width in columns.
std::size_t columns(std::FILE* out) {
  winsize size{};
  return ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

bool is_terminal(std::FILE* out) {
  const char* kind = std::getenv("TERM");
  return isatty(fileno(out)) == 1 && kind && std::string_view(kind) != "dumb";
}

/// Opened anew: others that write there, and read from it, go on as they are. Nothing where that is
/// no terminal and no pipe, or cannot be opened.
core::FileDescriptor unwaiting(std::FILE* out) {
  struct stat status {};
  const int file = fileno(out);
  if (::fstat(file, &status) != 0 || !(S_ISFIFO(status.st_mode) || isatty(file) == 1))
    return core::FileDescriptor();
  std::fflush(out);
  const auto path = "/proc/self/fd/" + std::to_string(file);
  return core::FileDescriptor(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

/// More than that says nothing that a journal does not.
constexpr std::size_t most_waiting = 1 << 20;
/// How long a hurried end waits for a reader that takes nothing.
constexpr int longest_wait_milliseconds = 5000;

}  // namespace

Screen::Screen(std::FILE* out, std::chrono::seconds between_lines)
    : out_(out),
      unwaiting_(unwaiting(out)),
      between_lines_(between_lines),
      live_(is_terminal(out)),
      broken_pipe_(::signal(SIGPIPE, SIG_IGN)) {}

Screen::~Screen() {
  clear();
  const int limit = hurried_ ? longest_wait_milliseconds : -1;
  // A signal ends the wait, too.
  for (pollfd reader{unwaiting_.number(), POLLOUT, 0}; !flush();)
    if (::poll(&reader, 1, limit) <= 0) break;
  ::signal(SIGPIPE, broken_pipe_);
}

// A run goes on when its output cannot be written: the reader has gone, or the disk is full.
void Screen::write(const std::string& text) {
  if (!unwaiting_.is_open()) {
    std::fwrite(text.data(), 1, text.size(), out_);
    std::fflush(out_);
    return;
  }
  if (waiting_.size() + text.size() <= most_waiting) waiting_ += text;
  flush();
}

bool Screen::flush() {
  while (!waiting_.empty()) {
    const auto count = ::write(unwaiting_.number(), waiting_.data(), waiting_.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return false;
    waiting_.erase(0, count < 0 ? waiting_.size() : static_cast<std::size_t>(count));
  }
  return true;
}

void Screen::line(const std::string& text) {
  const auto shown = core::one_line(text);
  stay(live_ ? wrapped(shown, columns(out_)) : shown);
}

void Screen::as_it_is(const std::string& text) {
  stay(core::one_line(text));
}

void Screen::stay(const std::string& lines) {
  clear();
  write(lines + "\n");
}

void Screen::detail(const std::string& text) {
  if (!live_) line(text);
}

void Screen::show(const std::vector<LiveText>& texts) {
  if (!live_) {
    if (Clock::now() < shown_ + between_lines_) return;
    shown_ = Clock::now();
    return line(texts.front().text);
  }
  if (!flush()) return;
  constexpr std::size_t margin = 3;  // for the ^C that a terminal shows
  const auto width = std::max(columns(out_), margin) - margin;
  std::string drawn;
  for (const auto& [text, least] : texts) {
    drawn = shortened(core::one_line(text), width);
    if (drawn.starts_with(least)) break;
  }
  write("\r\x1b[2K" + drawn);
  drawn_ = true;
}

void Screen::clear() {
  if (!drawn_) return;
  write("\r\x1b[2K");
  drawn_ = false;
}

}  // namespace evolve::cli

#include "cli/screen/screen.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <exception>
#include <string>
#include <string_view>

#include "cli/screen/text.hpp"
#include "core/environment.hpp"
#include "core/utf8.hpp"

namespace evolve::cli {
namespace {

/// The terminal's width in columns.
std::size_t columns(std::FILE* out) {
  winsize size{};
  return ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

bool is_terminal(std::FILE* out) {
  const auto kind = core::environment_variable("TERM");
  return isatty(fileno(out)) == 1 && !kind.empty() && kind != "dumb";
}

mode_t type_of(std::FILE* out) {
  struct stat status {};
  return ::fstat(fileno(out), &status) == 0 ? status.st_mode & S_IFMT : 0;
}

/// Whether somebody reads at the other end, and may stand still.
bool has_reader(std::FILE* out) {
  const auto type = type_of(out);
  return type == S_IFIFO || type == S_IFSOCK || isatty(fileno(out)) == 1;
}

/// Opened anew: others that write there, and read from it, go on as they are. Nothing where nobody
/// reads, or where it cannot be opened: a socket, or another user's.
core::FileDescriptor unwaiting(std::FILE* out) {
  if (!has_reader(out)) return core::FileDescriptor();
  const auto path = "/proc/self/fd/" + std::to_string(fileno(out));
  return core::FileDescriptor(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

/// As ::write(), of as much as a reader has room for; EAGAIN where it has none.
ssize_t write_now(std::FILE* out, std::string_view text) {
  const int file = fileno(out);
  const auto type = type_of(out);
  if (type == S_IFSOCK) return ::send(file, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  pollfd reader{file, POLLOUT, 0};
  if (::poll(&reader, 1, 0) <= 0) {
    errno = EAGAIN;
    return -1;
  }
  // How much room there is nobody says; so much there is at least.
  const std::size_t room = type == S_IFIFO ? PIPE_BUF : 1;
  return ::write(file, text.data(), std::min(room, text.size()));
}

/// More than that says nothing that a journal does not.
constexpr std::size_t most_waiting = 1 << 20;

}  // namespace

Screen::Screen(std::FILE* out, std::chrono::seconds between_lines)
    : out_(out),
      unwaiting_(unwaiting(out)),
      between_lines_(between_lines),
      live_(is_terminal(out)),
      broken_pipe_(::signal(SIGPIPE, SIG_IGN)) {
  std::fflush(out);
}

Screen::~Screen() {
  clear();
  // Nor is an error kept back by it.
  const bool hurried = hurried_ || std::uncaught_exceptions() > 0;
  const int limit = hurried ? static_cast<int>(longest_hurried_wait.count()) : -1;
  // A signal ends the wait, too.
  const int file = unwaiting_.is_open() ? unwaiting_.number() : fileno(out_);
  for (pollfd reader{file, POLLOUT, 0}; !flush();)
    if (::poll(&reader, 1, limit) <= 0) break;
  ::signal(SIGPIPE, broken_pipe_);
}

// A run goes on when its output cannot be written: the reader has gone, or the disk is full.
void Screen::write(const std::string& text) {
  if (!has_reader(out_)) {
    std::fwrite(text.data(), 1, text.size(), out_);
    std::fflush(out_);
    return;
  }
  if (waiting_.size() + text.size() <= most_waiting) waiting_ += text;
  flush();
}

bool Screen::flush() {
  while (!waiting_.empty()) {
    const auto count = unwaiting_.is_open()
                           ? ::write(unwaiting_.number(), waiting_.data(), waiting_.size())
                           : write_now(out_, waiting_);
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

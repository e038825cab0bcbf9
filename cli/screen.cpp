#include "cli/screen.hpp"

#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "cli/text.hpp"

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

}  // namespace

Screen::Screen(std::FILE* out, std::chrono::seconds between_lines)
    : out_(out),
      between_lines_(between_lines),
      live_(is_terminal(out)),
      broken_pipe_(::signal(SIGPIPE, SIG_IGN)) {}

Screen::~Screen() {
  clear();
  ::signal(SIGPIPE, broken_pipe_);
}

// A run goes on when its output cannot be written: the reader has gone, or the disk is full.
void Screen::write(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), out_);
  std::fflush(out_);
}

void Screen::line(const std::string& text) {
  as_it_is(live_ ? wrapped(text, columns(out_)) : text);
}

void Screen::as_it_is(const std::string& text) {
  clear();
  write(text + "\n");
}

void Screen::detail(const std::string& text) {
  if (!live_) line(text);
}

void Screen::show(const std::vector<std::string>& texts) {
  if (!live_) {
    if (Clock::now() < shown_ + between_lines_) return;
    shown_ = Clock::now();
    return line(texts.front());
  }
  constexpr std::size_t margin = 3;  // for the ^C that a terminal shows
  const auto width = std::max(columns(out_), margin) - margin;
  const auto fitting =
      std::ranges::find_if(texts, [&](const auto& text) { return shortened(text, width) == text; });
  write("\r\x1b[2K" + (fitting != texts.end() ? *fitting : shortened(texts.back(), width)));
  drawn_ = true;
}

void Screen::clear() {
  if (!drawn_) return;
  write("\r\x1b[2K");
  drawn_ = false;
}

}  // namespace evolve::cli

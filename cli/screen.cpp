#include "cli/screen.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/number.hpp"
#include "core/shell_word.hpp"

namespace evolve::cli {
namespace {

/// The terminal's width in columns.
std::size_t columns(std::FILE* out) {
  winsize size{};
  return ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/// The beginning of an UTF-8 text that fits into `width` columns (all our characters are one wide).
std::string cut(const std::string& text, std::size_t width) {
  std::size_t shown = 0, at = 0;
  while (at < text.size() && shown < width) {
    ++at;
    while (at < text.size() && (text[at] & 0xC0) == 0x80) ++at;
    ++shown;
  }
  return text.substr(0, at);
}

}  // namespace

std::string duration_text(double seconds) {
  const auto s = static_cast<long>(std::lround(std::max(0.0, seconds)));
  if (s >= 86400) return fmt::format("{} d {} h", s / 86400, s % 86400 / 3600);
  if (s >= 3600) return fmt::format("{} h {:02} min", s / 3600, s % 3600 / 60);
  if (s >= 60) return fmt::format("{} min {:02} s", s / 60, s % 60);
  return fmt::format("{} s", s);
}

std::string standing_text(const Standing& standing) {
  auto text =
      standing.most_epochs
          ? fmt::format("{}/{} epochs · {}, {} paused", standing.epochs, *standing.most_epochs,
                        core::counted(standing.ended, "trial"), standing.paused)
          : fmt::format("{}/{} trials{} · generation {}/{}", standing.ended, standing.planned,
                        standing.paused > 0 ? fmt::format(", {} paused", standing.paused) : "",
                        standing.generation + 1, standing.generations);
  if (standing.best_fitness) {
    text += fmt::format(" · best {:.4f} (trial {})", *standing.best_fitness, standing.best_trial);
  }
  const bool by_epochs = standing.most_epochs.has_value();
  const auto here = by_epochs ? standing.epochs_here : standing.ended_here;
  if (here > 0 && standing.seconds_here > 0) {
    const double per_second = static_cast<double>(here) / standing.seconds_here;
    const auto to_come =
        by_epochs ? *standing.most_epochs - standing.epochs : standing.planned - standing.ended;
    double left = static_cast<double>(to_come) / per_second;
    if (standing.seconds_allowed) left = std::min(left, std::max(0.0, *standing.seconds_allowed));
    text += fmt::format(" · {:.0f} {}/h · {} left", per_second * 3600,
                        by_epochs ? "epochs" : "trials", duration_text(left));
  }
  for (const auto& what : standing.busy) text += " · " + what;
  return text;
}

std::string display_path(const std::filesystem::path& path) {
  const auto near = path.lexically_proximate(std::filesystem::current_path()).string();
  return near.size() < path.string().size() ? near : path.string();
}

std::string shell_path(const std::filesystem::path& path) {
  return core::shell_word(display_path(path));
}

Screen::Screen(std::FILE* out, std::chrono::seconds between_lines)
    : out_(out),
      between_lines_(between_lines),
      live_(isatty(fileno(out)) == 1),
      broken_pipe_(::signal(SIGPIPE, SIG_IGN)) {}

Screen::~Screen() {
  clear();
  ::signal(SIGPIPE, broken_pipe_);
}

// That nobody reads any more, or that a disk is full, is no reason to end a run.
void Screen::write(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), out_);
  std::fflush(out_);
}

void Screen::line(const std::string& text) {
  clear();
  write(text + "\n");
}

void Screen::detail(const std::string& text) {
  if (!live_) line(text);
}

void Screen::show(const std::string& text) {
  if (!live_) {
    if (Clock::now() < shown_ + between_lines_) return;
    shown_ = Clock::now();
    return line(text);
  }
  write("\r\x1b[2K" + cut(text, columns(out_) - 1));
  drawn_ = true;
}

void Screen::clear() {
  if (!drawn_) return;
  write("\r\x1b[2K");
  drawn_ = false;
}

}  // namespace evolve::cli

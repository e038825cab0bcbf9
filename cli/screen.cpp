#include "cli/screen.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/number.hpp"
#include "core/shell_word.hpp"

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

/// How many bytes of an UTF-8 text fit into `width` columns (all our characters are one wide).
std::size_t bytes_in(std::string_view text, std::size_t width) {
  std::size_t at = 0;
  for (std::size_t shown = 0; at < text.size() && shown < width; ++shown) {
    ++at;
    while (at < text.size() && (text[at] & 0xC0) == 0x80) ++at;
  }
  return at;
}

/// Where the words of a line begin, after its label if it has one: "  luck    another seed …".
std::size_t words_begin(const std::string& line) {
  constexpr std::size_t usual = 2, furthest = 30;
  const auto label = line.find_first_not_of(' ');
  const auto words = line.find_first_not_of(' ', line.find("  ", label));
  return words <= furthest ? words : label <= furthest ? std::max(label, usual) : usual;
}

/// Such a line may be copied into a shell.
bool is_command(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  return line.starts_with("evolve ");
}

}  // namespace

std::string wrapped(const std::string& line, std::size_t width) {
  if (is_command(line)) return line;
  const auto indent = words_begin(line);
  std::string result, rest = line;
  while (bytes_in(rest, width) < rest.size()) {
    // A word that is too long stays as it is.
    auto end = rest.rfind(' ', bytes_in(rest, width));
    if (end == rest.npos || end < indent) end = rest.find(' ', rest.find_first_not_of(' ', indent));
    const auto next = rest.find_first_not_of(' ', end);
    if (end == rest.npos || next == rest.npos) break;
    result += rest.substr(0, end) + "\n";
    rest = std::string(indent, ' ') + rest.substr(next);
  }
  return result + rest;
}

std::string shortened(const std::string& fields, std::size_t width) {
  constexpr std::string_view between = " · ", more = " …";
  if (bytes_in(fields, width) == fields.size()) return fields;
  const auto room = width > 2 ? width - 2 : 0;
  const auto end = fields.rfind(between, bytes_in(fields, room));
  return fields.substr(0, end == fields.npos ? bytes_in(fields, room) : end).append(more);
}

std::string duration_text(double seconds) {
  const auto s = static_cast<long>(std::lround(std::max(0.0, seconds)));
  if (s >= 86400) return fmt::format("{} d {} h", s / 86400, s % 86400 / 3600);
  if (s >= 3600) return fmt::format("{} h {:02} min", s / 3600, s % 3600 / 60);
  if (s >= 60) return fmt::format("{} min {:02} s", s / 60, s % 60);
  return fmt::format("{} s", s);
}

std::string status_text(const RunStatus& status) {
  auto text = status.most_epochs
                  ? fmt::format("{}/{} epochs · {}, {} paused", status.epochs, *status.most_epochs,
                                core::counted(status.ended, "trial"), status.paused)
                  : fmt::format("{}/{} trials{}", status.ended, status.planned,
                                status.paused > 0 ? fmt::format(", {} paused", status.paused) : "");
  if (!status.most_epochs && status.generations > 0)
    text += fmt::format(" · generation {}/{}", status.generation + 1, status.generations);
  if (status.highest_fitness) {
    text +=
        fmt::format(" · highest {:.4f} (trial {})", *status.highest_fitness, status.highest_trial);
  }
  const bool by_epochs = status.most_epochs.has_value();
  const auto here = by_epochs ? status.epochs_here : status.ended_here;
  if (here > 0 && status.seconds_here > 0) {
    const double per_second = static_cast<double>(here) / status.seconds_here;
    const auto to_come =
        by_epochs ? *status.most_epochs - status.epochs : status.planned - status.ended;
    double left = static_cast<double>(to_come) / per_second;
    if (status.seconds_allowed) left = std::min(left, std::max(0.0, *status.seconds_allowed));
    text += fmt::format(" · {} left · {:.0f} {}/h", duration_text(left), per_second * 3600,
                        by_epochs ? "epochs" : "trials");
  }
  for (const auto& what : status.busy) text += " · " + what;
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
      live_(is_terminal(out)),
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
  as_it_is(live_ ? wrapped(text, columns(out_)) : text);
}

void Screen::as_it_is(const std::string& text) {
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
  constexpr std::size_t margin = 3;  // for the ^C that a terminal shows
  write("\r\x1b[2K" + shortened(text, std::max(columns(out_), margin) - margin));
  drawn_ = true;
}

void Screen::clear() {
  if (!drawn_) return;
  write("\r\x1b[2K");
  drawn_ = false;
}

}  // namespace evolve::cli

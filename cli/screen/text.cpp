#include "cli/screen/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/shell_word.hpp"
#include "core/utf8.hpp"

namespace evolve::cli {
namespace {

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
  const auto indent = std::min(words_begin(line), width / 2);
  std::string result, rest = line;
  while (core::place_of_character(rest, width) < rest.size()) {
    // A word that is too long stays as it is.
    auto end = rest.rfind(' ', core::place_of_character(rest, width));
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
  if (core::place_of_character(fields, width) == fields.size()) return fields;
  const auto room = width > 2 ? width - 2 : 0;
  const auto end = fields.rfind(between, core::place_of_character(fields, room));
  return fields.substr(0, end == fields.npos ? core::place_of_character(fields, room) : end)
      .append(more);
}

std::string duration_text(double seconds) {
  const auto s = static_cast<long>(std::lround(std::max(0.0, seconds)));
  if (s >= 86400) return fmt::format("{} d {} h", s / 86400, s % 86400 / 3600);
  if (s >= 3600) return fmt::format("{} h {:02} min", s / 3600, s % 3600 / 60);
  if (s >= 60) return fmt::format("{} min {:02} s", s / 60, s % 60);
  return fmt::format("{} s", s);
}

std::string fitness_text(double fitness) {
  const double size = std::abs(fitness);
  const bool usual = size == 0 || (size >= 1e-3 && size < 1e6);
  if (usual) return fmt::format("{:.4f}", fitness);
  return size < 1 ? fmt::format("{:.4g}", fitness) : fmt::format("{:.9g}", fitness);
}

std::string display_path(const std::filesystem::path& path) {
  std::error_code gone;
  const auto here = std::filesystem::current_path(gone);
  if (gone) return path.string();
  const auto near = path.lexically_proximate(here).string();
  return near.size() < path.string().size() ? near : path.string();
}

std::string shell_path(const std::filesystem::path& path) {
  const auto text = display_path(path);
  return core::shell_word((text.starts_with('-') ? "./" : "") + text);
}

std::string shell_folder(const std::filesystem::path& path) {
  return core::shell_folder(display_path(path));
}

}  // namespace evolve::cli

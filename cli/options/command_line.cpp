#include "cli/options/command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>

#include "core/error.hpp"
#include "core/number.hpp"
#include "core/path.hpp"

namespace evolve::cli {
namespace {

namespace fs = std::filesystem;

/// "batch-size" -> "batch_size".
std::string key_of(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

/// An option with an empty value is most likely a script's variable that is not set: it must not be
/// taken for an option that was left out. Of --weights and --cfg YOLOv5 gives '' a meaning (random
/// weights, the table of the weights); for --devices there is an error of its own that lists them.
void refuse_empty(const CLI::Option& option, const std::string& name) {
  const bool has_meaning = name == "--weights" || name == "--cfg" || name == "--devices";
  if (has_meaning || option.get_items_expected_min() == 0) return;
  if (std::ranges::count(option.results(), "") > 0) throw empty_value(name);
}

/// The same where the variable stood without quotes: the next option is then taken for the value.
void refuse_option(const CLI::App& app, const CLI::Option& option, const std::string& name) {
  for (const auto& value : option.results()) {
    if (value.starts_with("--") && app.get_option_no_throw(value))
      throw bad_argument(name + " " + value + ": its value is missing",
                         "give it a value, or leave it out");
  }
}

/// What begins with a 0 is read by some as octal or hexadecimal, by YOLOv5 as the number that it
/// looks like.
void refuse_other_bases(const CLI::Option& option, const std::string& name) {
  const auto type = option.get_type_name();
  const bool is_whole = type.starts_with("INT") || type.starts_with("UINT") || name == "--freeze";
  if (!is_whole) return;
  for (const auto& value : option.results()) {
    const auto digits = value.substr(std::min(value.find_first_not_of("+-"), value.size()));
    if (digits.size() > 1 && digits.starts_with("0"))
      throw bad_argument(name + " " + value + ": this begins with a 0",
                         "write a decimal number without it");
  }
}

/// A flag that was given by its negative name.
bool is_negated(const CLI::Option& option) {
  return option.get_items_expected_max() == 0 && option.as<std::string>() == "false";
}

}  // namespace

Error empty_value(const std::string& option) {
  return bad_argument(option + " '': this is empty", "give it a value, or leave it out");
}

void check_values(const CLI::App& app) {
  for (const auto* option : app.get_options()) {
    const auto name = option->get_name();
    refuse_empty(*option, name);
    refuse_option(app, *option, name);
    refuse_other_bases(*option, name);
  }
}

Given given_on(const CLI::App& app) {
  Given given;
  for (const auto* option : app.get_options()) {
    if (option->count() == 0) continue;
    const auto& name = option->get_lnames().front();
    given[key_of(name)] = (is_negated(*option) ? "--no-" : "--") + name;
  }
  // One option, two values.
  if (const auto it = given.find("model"); it != given.end()) {
    given.try_emplace("cfg", it->second);
    given.try_emplace("weights", it->second);
  }
  if (const auto it = given.find("cos_restarts"); it != given.end()) {
    given["restart_epochs"] = given["restart_factor"] = it->second;
  }
  return given;
}

std::string share_fault(const std::string& text) {
  const auto share = core::parse_number(text);
  return share && *share >= 0 && *share <= 1 ? "" : text + " is no number from 0 to 1";
}

std::string seed_fault(const std::string& text) {
  return core::parse_integer<std::uint64_t>(text)
             ? ""
             : text + " is no whole number from 0 to 18446744073709551615";
}

void make_absolute(std::string& path) {
  std::error_code ignored;
  if (!path.empty() && fs::exists(path, ignored)) path = core::without_dots(fs::absolute(path));
}

std::optional<double> duration_seconds(const std::string& text, const std::string& option) {
  if (text.empty()) return std::nullopt;
  const auto wrong = [&] {
    return bad_argument(option + " " + text + ": not a duration",
                        "write 90s, 15m, 12h, 1h30m or 2d");
  };
  double seconds = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const auto end = text.find_first_not_of("0123456789.", at);
    const auto amount =
        core::parse_number(text.substr(at, end == std::string::npos ? end : end - at));
    if (!amount) throw wrong();
    if (end == std::string::npos) {
      if (at != 0) throw wrong();
      seconds = *amount;
      break;
    }
    const auto unit = std::string("smhd").find(text[end]);
    if (unit == std::string::npos) throw wrong();
    seconds += *amount * (unit == 0 ? 1 : unit == 1 ? 60 : unit == 2 ? 3600 : 86400);
    at = end + 1;
  }
  constexpr double longest = 1e9;  // three decades
  if (!(seconds <= longest)) throw wrong();
  return seconds;
}

std::optional<std::chrono::seconds> duration(const std::string& text, const std::string& option) {
  const auto seconds = duration_seconds(text, option);
  if (!seconds || *seconds == 0) return {};
  return std::chrono::seconds(std::max(1L, std::lround(*seconds)));
}

}  // namespace evolve::cli

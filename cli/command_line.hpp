// What the options of every command share: which were given, how they become JSON and come back.
#pragma once

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

#include "core/json.hpp"

namespace CLI {
class App;
}

namespace evolve::cli {

/// The options that a command line gave: a key of the command's JSON ("batch_size") and the option
/// as it is called there ("--batch-size").
using Given = std::map<std::string, std::string>;
/// To be called after parsing.
Given given_on(const CLI::App& app);

/// What is wrong with the text of a share of 0 to 1; "" where nothing is.
std::string share_fault(const std::string& text);

/// What is wrong with the text of a seed, which is a whole number below 2^64; "": nothing is.
std::string seed_fault(const std::string& text);

/// Makes the path of something that exists absolute, and leaves every other text alone.
void make_absolute(std::string& path);

/// The options to go on with: those of the run (`run`), with what the command line (`now`, as far
/// as it is `given`) changes. Throws `Error` when it gives another value to an option that is
/// neither `changeable` nor among trainer::changeable_options.
nlohmann::ordered_json options_to_resume(const nlohmann::ordered_json& run,
                                         const nlohmann::ordered_json& now, const Given& given,
                                         std::set<std::string> changeable);

/// Seconds of "90", "90s", "15m", "12h", "1h30m", nothing of ""; throws `Error` that names the
/// option.
std::optional<double> duration_seconds(const std::string& text, const std::string& option);

/// The same in whole seconds, 1 at least; nothing, no limit, of 0.
std::optional<std::chrono::seconds> duration(const std::string& text, const std::string& option);

/// An absent value is null.
template <class T>
nlohmann::ordered_json json_of(const T& value) {
  return value;
}
template <class T>
nlohmann::ordered_json json_of(const std::optional<T>& value) {
  return core::json_or_null(value);
}

template <class T>
void assign(const nlohmann::ordered_json& json, T& value) {
  json.get_to(value);
}
template <class T>
void assign(const nlohmann::ordered_json& json, std::optional<T>& value) {
  value = json.is_null() ? std::nullopt : std::optional<T>(json.get<T>());
}

}  // namespace evolve::cli

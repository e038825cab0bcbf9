// What the options of every command share: which were given, and how their texts are read.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "core/error.hpp"

namespace CLI {
class App;
}

namespace evolve::cli {

/// To be called after parsing: throws `Error` for a value that is empty, another option, or a whole
/// number in another base.
void check_values(const CLI::App& app);
/// What is thrown of an empty one.
Error empty_value(const std::string& option);

/// The options that a command line gave: a key of the command's JSON ("batch_size") and the option
/// as it is called there ("--batch-size").
using Given = std::map<std::string, std::string>;
/// To be called after parsing.
Given given_on(const CLI::App& app);

/// What is wrong with a text that should be a share from 0 to 1; "": nothing is. (A check of
/// CLI11's.)
std::string share_fault(const std::string& text);

/// What is wrong with a text that should be a seed, a whole number below 2^64; "": nothing is. (A
/// check of CLI11's.)
std::string seed_fault(const std::string& text);

/// Makes the path of something that exists absolute, and leaves every other text alone.
void make_absolute(std::string& path);

/// Seconds of "90", "90s", "15m", "12h", "1h30m", "2d", nothing of ""; throws `Error` that names
/// the option.
std::optional<double> duration_seconds(const std::string& text, const std::string& option);

/// Whole seconds, 1 at least, of a text as duration_seconds() reads it; nothing, no limit, of 0 or
/// "".
std::optional<std::chrono::seconds> duration(const std::string& text, const std::string& option);

}  // namespace evolve::cli

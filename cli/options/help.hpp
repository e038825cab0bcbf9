// What --help shows, and what is said of arguments that evolve does not know.
#pragma once

#include <memory>
#include <string>

#include "core/error.hpp"

namespace CLI {
class App;
class FormatterBase;
}  // namespace CLI

namespace evolve::cli {

/// Lines of 80 columns at most; of a type its name alone.
std::shared_ptr<CLI::FormatterBase> help_format();

/// "see evolve export --help": that of the command that the arguments name.
std::string see_help(const CLI::App& app);

/// The error for a value that should be a number, from what CLI11 says: "Could not convert:
/// --trials = ten".
Error bad_conversion(const CLI::App& app, std::string said);

/// Of the arguments that are left over on `app` and its commands: what is wrong, and the option
/// that was meant, if one is like it. `first`: the first word of the command line.
Error unknown_arguments(const CLI::App& app, const std::string& first);

}  // namespace evolve::cli

// What --help shows, and what is said of arguments that nobody knows.
#pragma once

#include <memory>

#include "core/error.hpp"

namespace CLI {
class App;
class FormatterBase;
}  // namespace CLI

namespace evolve::cli {

/// Lines of 80 columns at most; of a type its name alone.
std::shared_ptr<CLI::FormatterBase> help_format();

/// Of the arguments that are left over on `app` and its commands: what is wrong, and the option
/// that was meant, if one is like it.
Error unknown_arguments(const CLI::App& app);

}  // namespace evolve::cli

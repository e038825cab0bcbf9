// Tables of numbers as text: a line of names, then lines of numbers, with commas between.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"

namespace evolve::core {

struct NumberTable {
  std::vector<std::string> names;
  /// Each has as many numbers as there are names.
  std::vector<std::vector<double>> rows;
};

/// Looks at the names, and may throw for ones that it does not expect. Returns the places of those
/// whose cells must be numbers; in other columns a cell that is not a number reads as NaN.
using CheckHeader =
    std::function<std::vector<std::size_t>(const std::vector<std::string>&, const Where&)>;

/// The places of `names`: all cells must be numbers. Throws `Error` where two names are alike.
std::vector<std::size_t> all_columns(const std::vector<std::string>& names, const Where& where);

/// What a cell without anything is where a number must be.
enum class EmptyCells { refused, nan };

/// Reads a table; blanks and quotes around cells and blank lines are nothing, NaN is a number.
/// `remedy` says what to name instead of an empty file. Throws `Error` with file and line for a
/// header without commas that has semicolons or tabs, for a row with too few or too many columns,
/// and for a cell that must be a number and is not one.
NumberTable read_csv(const std::filesystem::path& file, const std::string& remedy,
                     const CheckHeader& check_header);

/// Reads the table from a text, as read_csv() does; `file` is what errors say.
NumberTable parse_csv(std::string_view text, const std::filesystem::path& file,
                      const std::string& remedy, const CheckHeader& check_header,
                      EmptyCells empty = EmptyCells::refused);

/// The names in the first line of a file that is not blank; none when it has no such line. Throws
/// `Error` when it cannot be read.
std::vector<std::string> csv_header(const std::filesystem::path& file);

}  // namespace evolve::core

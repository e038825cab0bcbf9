#include "core/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/number.hpp"
#include "core/split.hpp"
#include "core/text_file.hpp"
#include "core/utf8.hpp"

namespace evolve::core {

namespace fs = std::filesystem;

namespace {

/// More than a million rows.
constexpr std::size_t max_bytes = std::size_t{1} << 30;

/// Some programs write every cell in quotes.
std::vector<std::string> cells_in(std::string_view line) {
  auto cells = split_and_trim(line, ',');
  for (auto& cell : cells)
    if (cell.size() > 1 && cell.front() == '"' && cell.back() == '"')
      cell = trimmed(std::string_view(cell).substr(1, cell.size() - 2));
  return cells;
}

std::vector<double> numbers_in(std::string_view line, std::size_t columns,
                               const std::vector<std::size_t>& needed, EmptyCells empty,
                               const Where& where) {
  const auto cells = cells_in(line);
  if (cells.size() != columns) {
    const auto count = counted(std::ssize(cells), "column");
    throw bad_input(where, fmt::format("{}, the header has {}", count, columns),
                    "mend or delete the row");
  }
  std::vector<double> numbers;
  for (const auto& cell : cells) {
    const auto number = parse_number(cell);
    const bool is_nan = cell.empty() && empty == EmptyCells::nan;
    if (!number && !is_nan && std::ranges::count(needed, numbers.size()) > 0) {
      throw bad_input(where, fmt::format("column {} is '{}', no number", numbers.size() + 1, cell),
                      "mend or delete the row");
    }
    numbers.push_back(number.value_or(std::numeric_limits<double>::quiet_NaN()));
  }
  return numbers;
}

/// Throws `Error` where a spreadsheet has put other signs than commas between the names.
void check_separators(std::string_view line, const Where& where) {
  if (line.find(',') != line.npos) return;
  const auto* separators = line.find(';') != line.npos    ? "semicolons"
                           : line.find('\t') != line.npos ? "tabs"
                                                          : nullptr;
  if (separators)
    throw bad_input(where, fmt::format("its columns have {} between them", separators),
                    "save it with commas, and numbers with points");
}

std::string text_of(const fs::path& file) {
  return read_text_file(file.string(), max_bytes);
}

/// Calls `visit(line, its number)` for each line that is not blank, until it returns false.
template <class Visit>
void for_each_line(std::string_view text, Visit visit) {
  text = without_byte_order_mark(text);
  std::size_t begin = 0;
  for (int number = 1; begin < text.size(); ++number) {
    const auto end = std::min(text.find('\n', begin), text.size());
    const auto line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    if (!visit(line, number)) return;
  }
}

}  // namespace

std::vector<std::size_t> all_columns(const std::vector<std::string>& names, const Where& where) {
  for (const auto& name : names)
    if (std::ranges::count(names, name) > 1)
      throw bad_input(where, fmt::format("two columns are named '{}'", name),
                      "delete the wrong one");
  std::vector<std::size_t> places(names.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  return places;
}

NumberTable read_csv(const fs::path& file, const std::string& remedy,
                     const CheckHeader& check_header) {
  return parse_csv(text_of(file), file, remedy, check_header);
}

NumberTable parse_csv(std::string_view text, const fs::path& file, const std::string& remedy,
                      const CheckHeader& check_header, EmptyCells empty) {
  NumberTable table;
  std::vector<std::size_t> needed;
  for_each_line(text, [&](std::string_view line, int number) {
    const Where where{file.string(), number};
    if (table.names.empty()) {
      check_separators(trimmed(line), where);
      table.names = cells_in(line);
      needed = check_header(table.names, where);
    } else {
      table.rows.push_back(numbers_in(line, table.names.size(), needed, empty, where));
    }
    return true;
  });
  if (table.names.empty()) throw bad_input({file.string()}, "this is empty", remedy);
  return table;
}

std::vector<std::string> csv_header(const fs::path& file) {
  std::vector<std::string> names;
  for_each_line(text_of(file), [&](std::string_view line, int) {
    names = cells_in(line);
    return false;
  });
  return names;
}

}  // namespace evolve::core

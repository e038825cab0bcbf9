#include "results/evolve_csv.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "hyp/number.hpp"
#include "hyp/text_file.hpp"
#include "results/durable.hpp"

namespace evolve::results {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t metric_count = hyp::Metrics::count;
/// More than a million rows.
constexpr std::size_t max_bytes = std::size_t{1} << 30;

std::string line_of(const std::vector<std::string>& cells) {
  std::string line;
  for (const auto& cell : cells) line += fmt::format("{}{:>20}", line.empty() ? "" : ",", cell);
  return line + "\n";
}

std::string header(const std::vector<std::string>& names) {
  std::vector<std::string> cells(hyp::Metrics::names().begin(), hyp::Metrics::names().end());
  cells.insert(cells.end(), names.begin(), names.end());
  return line_of(cells);
}

std::string line_of(const Row& row) {
  std::vector<std::string> cells;
  for (const double value : row.metrics.values()) cells.push_back(hyp::shortest(value));
  for (const double value : row.values) cells.push_back(hyp::shortest(value));
  return line_of(cells);
}

/// The cells of a line without the blanks around them.
std::vector<std::string> split(std::string_view line) {
  std::vector<std::string> cells;
  for (;;) {
    const auto comma = line.find(',');
    std::string_view cell = line.substr(0, comma);
    const auto first = cell.find_first_not_of(" \t\r");
    const auto last = cell.find_last_not_of(" \t\r");
    cells.emplace_back(first == cell.npos ? "" : cell.substr(first, last - first + 1));
    if (comma == line.npos) return cells;
    line.remove_prefix(comma + 1);
  }
}

std::vector<std::string> read_header(std::string_view line, const Where& where) {
  auto cells = split(line);
  const auto& metrics = hyp::Metrics::names();
  if (cells.size() < metric_count || !std::equal(metrics.begin(), metrics.end(), cells.begin())) {
    throw bad_input(where, "the header doesn't start with the seven metrics",
                    "name an evolve.csv: metrics/precision, metrics/recall, …");
  }
  cells.erase(cells.begin(), cells.begin() + metric_count);
  return cells;
}

Row read_row(std::string_view line, std::size_t columns, const Where& where) {
  const auto cells = split(line);
  if (cells.size() != columns) {
    throw bad_input(where, fmt::format("{} columns, the header has {}", cells.size(), columns),
                    "mend or delete the row");
  }
  std::vector<double> numbers;
  for (const auto& cell : cells) {
    const auto number = hyp::parse_number(cell);
    if (!number) {
      throw bad_input(where, fmt::format("column {} is '{}', no number", numbers.size() + 1, cell),
                      "mend or delete the row");
    }
    numbers.push_back(*number);
  }
  std::array<double, metric_count> metrics{};
  std::copy_n(numbers.begin(), metric_count, metrics.begin());
  return {.metrics = hyp::Metrics::from_values(metrics),
          .values = {numbers.begin() + metric_count, numbers.end()}};
}

}  // namespace

Table table_of(const hyp::Space& space) {
  Table table;
  for (const auto& gene : space.genes) table.names.push_back(gene.name);
  return table;
}

void append_row(const fs::path& file, const std::vector<std::string>& names, const Row& row) {
  const FileDescriptor descriptor(
      ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (!descriptor.is_open()) throw write_failed(file, errno);
  const bool is_new = ::lseek(descriptor.number(), 0, SEEK_END) == 0;
  const std::string text = (is_new ? header(names) : "") + line_of(row);
  if (const int error = write_all(descriptor.number(), text)) throw write_failed(file, error);
}

void write_table(const fs::path& file, const Table& table) {
  std::string text = header(table.names);
  for (const Row& row : table.rows) text += line_of(row);
  write_atomically(file, text);
}

Table read_table(const fs::path& file) {
  const std::string text = hyp::read_text_file(file.string(), max_bytes);
  Table table;
  bool has_header = false;
  std::size_t begin = 0;
  for (int line = 1; begin < text.size(); ++line) {
    const auto end = std::min(text.find('\n', begin), text.size());
    const auto content = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    if (content.find_first_not_of(" \t\r") == content.npos) continue;
    const Where where{file.string(), line};
    if (has_header) {
      table.rows.push_back(read_row(content, metric_count + table.names.size(), where));
    } else {
      table.names = read_header(content, where);
      has_header = true;
    }
  }
  if (!has_header) throw bad_input({file.string()}, "this is empty", "name an evolve.csv");
  return table;
}

}  // namespace evolve::results

#include "results/evolve_csv.hpp"

#include <algorithm>

#include "core/csv.hpp"
#include "results/run_file.hpp"
#include "results/yolov5_csv.hpp"

namespace evolve::results {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t metric_count = hyp::Metrics::count;

std::string header(const std::vector<std::string>& names) {
  std::vector<std::string> cells(hyp::Metrics::names().begin(), hyp::Metrics::names().end());
  cells.insert(cells.end(), names.begin(), names.end());
  return csv_line(cells);
}

std::string line_of(const Row& row) {
  const auto metrics = row.metrics.values();
  std::vector<double> numbers(metrics.begin(), metrics.end());
  numbers.insert(numbers.end(), row.values.begin(), row.values.end());
  return csv_line(numbers);
}

std::vector<std::size_t> check_header(const std::vector<std::string>& cells, const Where& where) {
  const auto& metrics = hyp::Metrics::names();
  if (cells.size() < metric_count || !std::equal(metrics.begin(), metrics.end(), cells.begin())) {
    throw bad_input(where, "the header doesn't start with the seven metrics",
                    "name an evolve.csv: metrics/precision, metrics/recall, …");
  }
  return core::all_columns(cells, where);
}

constexpr const char* remedy = "name an evolve.csv";

Row row_of(const std::vector<double>& numbers) {
  std::array<double, metric_count> metrics{};
  std::copy_n(numbers.begin(), metric_count, metrics.begin());
  return {.metrics = hyp::Metrics::from_values(metrics),
          .values = {numbers.begin() + metric_count, numbers.end()}};
}

Table table_of(const core::NumberTable& csv) {
  Table table{.names = {csv.names.begin() + metric_count, csv.names.end()}, .rows = {}};
  for (const auto& numbers : csv.rows) table.rows.push_back(row_of(numbers));
  return table;
}

}  // namespace

Table table_of(const hyp::Space& space) {
  Table table;
  for (const auto& gene : space.genes) table.names.push_back(gene.name);
  return table;
}

void append_row(const fs::path& file, const std::vector<std::string>& names, const Row& row) {
  append_csv_line(file, header(names), line_of(row));
}

void write_table(const fs::path& file, const Table& table) {
  std::string text = header(table.names);
  for (const Row& row : table.rows) text += line_of(row);
  write_atomically(file, text);
}

Table read_table(const fs::path& file) {
  return table_of(core::read_csv(file, remedy, check_header));
}

Table parse_table(std::string_view text, const fs::path& file) {
  return table_of(core::parse_csv(text, file, remedy, check_header));
}

}  // namespace evolve::results

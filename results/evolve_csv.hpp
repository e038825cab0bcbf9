// evolve.csv: YOLOv5's table of finished trials.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "hyp/metrics.hpp"
#include "hyp/space.hpp"

namespace evolve::results {

/// One completed trial.
struct Row {
  hyp::Metrics metrics;
  /// One raw value per hyperparameter, in the order of `Table::names`; a choice is its index.
  std::vector<double> values;

  bool operator==(const Row&) const = default;
};

/// All of evolve.csv, in the order of completion.
struct Table {
  /// Hyperparameters: the columns after the seven metrics.
  std::vector<std::string> names;
  std::vector<Row> rows;

  bool operator==(const Table&) const = default;
};

/// An empty table with the columns of a space.
Table table_of(const hyp::Space& space);

/// Appends a row, after the header where the file is new or empty. Columns are right-aligned, at
/// least 20 wide, with a comma between; numbers in their shortest exact form. Throws `Error`
/// (`Fault::run`) when the disk is full.
void append_row(const std::filesystem::path& file, const std::vector<std::string>& names,
                const Row& row);

/// Replaces the file by this table, atomically. Throws as `append_row` does.
void write_table(const std::filesystem::path& file, const Table& table);

/// Reads an evolve.csv, YOLOv5's or ours. NaN is a value. Throws `Error` with file and line for a
/// header that doesn't start with the seven metrics, a row with too few or too many columns, or a
/// cell that is not a number.
Table read_table(const std::filesystem::path& file);

/// Reads an evolve.csv's text, as read_table() does a file; `file` is what errors say.
Table parse_table(std::string_view text, const std::filesystem::path& file);

}  // namespace evolve::results

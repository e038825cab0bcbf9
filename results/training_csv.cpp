#include "results/training_csv.hpp"

#include <algorithm>
#include <cmath>

#include "core/csv.hpp"
#include "results/run_file.hpp"
#include "results/yolov5_csv.hpp"

namespace evolve::results {

namespace fs = std::filesystem;

namespace {

std::vector<double> numbers_of(const EpochRow& row) {
  std::vector<double> numbers = {static_cast<double>(row.epoch)};
  const auto add = [&](const auto& values) {
    numbers.insert(numbers.end(), values.begin(), values.end());
  };
  add(row.losses);
  add(row.metrics.values());
  add(row.learning_rates);
  return numbers;
}

EpochRow epoch_of(const std::vector<double>& numbers) {
  EpochRow row{.epoch = static_cast<int>(std::lround(numbers.front()))};
  std::array<double, hyp::Metrics::count> metrics{};
  auto next = numbers.begin() + 1;
  const auto take = [&](auto& values) {
    std::copy_n(next, values.size(), values.begin());
    next += std::ssize(values);
  };
  take(row.losses);
  take(metrics);
  take(row.learning_rates);
  row.metrics = hyp::Metrics::from_values(metrics);
  return row;
}

/// "epoch", "train/box_loss", … "metrics/precision", … "val/box_loss", … "x/lr2".
const std::vector<std::string>& epoch_columns() {
  static const auto columns = [] {
    std::vector<std::string> names = {"epoch", "train/box_loss", "train/obj_loss",
                                      "train/cls_loss"};
    const auto& metrics = hyp::Metrics::names();
    names.insert(names.end(), metrics.begin(), metrics.end());
    names.insert(names.end(), {"x/lr0", "x/lr1", "x/lr2"});
    return names;
  }();
  return columns;
}

}  // namespace

bool is_training_header(const std::vector<std::string>& names) {
  return std::ranges::mismatch(epoch_columns(), names).in1 == epoch_columns().end();
}

void append_epoch(const fs::path& file, const EpochRow& row) {
  append_csv_line(file, csv_line(epoch_columns()), csv_line(numbers_of(row)));
}

void write_epochs(const fs::path& file, const std::vector<EpochRow>& rows) {
  std::string text = csv_line(epoch_columns());
  for (const auto& row : rows) text += csv_line(numbers_of(row));
  write_atomically(file, text);
}

std::vector<EpochRow> read_epochs(const fs::path& file) {
  const std::string remedy = "name a results.csv: epoch, train/box_loss, …";
  const auto csv = core::read_csv(file, remedy, [&](const auto& names, const Where& where) {
    if (!is_training_header(names))
      throw bad_input(where, "these are not the columns of YOLOv5's results.csv", remedy);
    return core::all_columns(names, where);
  });
  std::vector<EpochRow> rows;
  for (const auto& numbers : csv.rows) rows.push_back(epoch_of(numbers));
  return rows;
}

}  // namespace evolve::results

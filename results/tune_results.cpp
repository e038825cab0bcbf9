#include "results/tune_results.hpp"

#include <cmath>
#include <sstream>
#include <string>

#include "core/csv.hpp"
#include "core/error.hpp"
#include "core/json.hpp"
#include "core/split.hpp"
#include "core/text_file.hpp"
#include "results/keys.hpp"

namespace evolve::results {
namespace {

namespace fs = std::filesystem;

constexpr const char* name_tune_results =
    "name a tune_results.ndjson or tune_results.csv of Ultralytics";

EarlierTrial training_in(const std::string& line, const Where& where) {
  try {
    const auto json = core::json_in(line);
    const auto& fitness = keys::value(json, "fitness");
    // Its fitness is a mean over data sets, in which one whose training failed is a 0.
    const bool failed = json.contains("failed_datasets") && !json["failed_datasets"].empty();
    return {hyp::hyperparameters_from_json(keys::value(json, "hyperparameters")),
            fitness.is_number() && !failed ? fitness.get<double>() : NAN};
  } catch (const std::exception&) {
    throw bad_input(where, "this line is no training of Ultralytics' tuner",
                    where.line > 1 ? "mend or delete the line" : name_tune_results);
  }
}

std::vector<EarlierTrial> read_lines(const fs::path& file) {
  std::vector<EarlierTrial> trainings;
  std::istringstream lines(core::read_text_file(file.string()));
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (!core::trimmed(line).empty())
      trainings.push_back(training_in(line, {file.string(), number}));
  }
  return trainings;
}

std::vector<EarlierTrial> read_table_of_fitness(const fs::path& file) {
  const auto table = core::read_csv(file, name_tune_results, core::all_columns);
  std::vector<EarlierTrial> trainings;
  for (const auto& row : table.rows) {
    EarlierTrial training{.fitness = row[0]};
    for (std::size_t i = 1; i < row.size(); ++i) training.hyp.set(table.names[i], row[i]);
    trainings.push_back(std::move(training));
  }
  return trainings;
}

}  // namespace

std::optional<std::vector<EarlierTrial>> read_tune_results(const fs::path& file) {
  const auto cells = core::csv_header(file);
  if (cells.empty()) return {};
  if (cells[0].starts_with('{')) return read_lines(file);
  if (cells[0] == "fitness") return read_table_of_fitness(file);
  return {};
}

}  // namespace evolve::results

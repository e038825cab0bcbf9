#include "results/evolve_csv.hpp"
#include "results/training_csv.hpp"
#include "results/tune_results.hpp"
#include "tests/fuzz/fuzz.hpp"

void evolve::fuzz::csv(const std::string& input) {
  const File file(input);
  refusable([&] { results::read_table(file.path()); });
  refusable([&] { results::read_epochs(file.path()); });
  refusable([&] { results::read_tune_results(file.path()); });
}

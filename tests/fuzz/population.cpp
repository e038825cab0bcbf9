#include <nlohmann/json.hpp>

#include "results/yaml_files.hpp"
#include "tests/fuzz/fuzz.hpp"

void evolve::fuzz::population(const std::string& input) {
  const File file(input);
  refusable([&] { results::read_population(file.path()); });
  refusable([&] { results::read_options(file.path()); });
}

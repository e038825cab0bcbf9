#include "tests/fuzz/fuzz.hpp"
#include "trainer/data/label_file.hpp"

void evolve::fuzz::labels(const std::string& input) {
  for (const bool single_class : {false, true})
    refusable(
        [&] { data::label_lines(data::parse_labels(input, "a.txt", 5, single_class).labels); });
}

#include "ga/evolution.hpp"
#include "hyp/space_file.hpp"
#include "tests/fuzz/fuzz.hpp"

void evolve::fuzz::space(const std::string& input) {
  refusable([&] {
    ga::Evolution evolution(hyp::parse_space(input, "space.yaml"), {.population = 4});
    for (int i = 0; i < 4; ++i) evolution.ask();
  });
}

#include "tests/fuzz/fuzz.hpp"
#include "trainer/model/model_config.hpp"

void evolve::fuzz::model(const std::string& input) {
  refusable([&] {
    trainer::count_parameters(trainer::resolve(trainer::parse_model_table(input, "model.yaml"), 3));
  });
}

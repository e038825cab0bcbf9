// Weights files of anybody, and the pickle of one by itself, which its archive's checksum guards.
#include <stdexcept>

#include "tests/fuzz/fuzz.hpp"
#include "trainer/checkpoint/weights_file.hpp"

void evolve::fuzz::weights(const std::string& input) {
  refusable<std::runtime_error>([&] { trainer::open_weights(input); });
  refusable<std::runtime_error>([&] { trainer::find_model(pickle::read(input)); });
}

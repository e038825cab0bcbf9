#include "tests/fuzz/fuzz.hpp"
#include "trainer/data/image_file.hpp"

void evolve::fuzz::image(const std::string& input) {
  const File file(input);
  refusable([&] {
    data::check_image(file.path());
    data::decode(file.path());
  });
}

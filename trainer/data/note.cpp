#include "trainer/data/note.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace evolve::data {

void on_standard_error(const std::string& line) {
  fmt::print(stderr, "{}\n", line);
}

}  // namespace evolve::data

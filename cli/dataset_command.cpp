#include <fmt/format.h>

#include "cli/commands.hpp"
#include "core/error.hpp"
#include "trainer/data/embedded/shapes.hpp"

namespace evolve::cli {

int dataset_command(const std::string& name, const std::string& directory) {
  if (name != "shapes") {
    throw bad_argument("dataset " + name + ": there is no such embedded data set", "write shapes");
  }
  if (directory.empty()) throw bad_argument("dataset shapes: no folder", "name one to write it in");
  data::write_embedded(name, directory);
  fmt::print("{}/shapes.yaml\n", directory);
  return 0;
}

}  // namespace evolve::cli

#include "trainer/data/data_yaml.hpp"

#include <filesystem>
#include <fstream>

#include "tests/fuzz/fuzz.hpp"

namespace {

/// A folder with an image in a/ and one in b/.
std::filesystem::path images() {
  std::string name = "/tmp/evolve-fuzz-XXXXXX";
  if (!::mkdtemp(name.data())) ::abort();
  for (const auto* folder : {"a", "b"}) {
    std::filesystem::create_directory(name + "/" + folder);
    std::ofstream(name + "/" + folder + "/1.png");
  }
  return name;
}

}  // namespace

void evolve::fuzz::data_yaml(const std::string& input) {
  // A split may be any folder, and all of it is searched: not the whole disk here.
  if (input.find('/') != input.npos || input.find("..") != input.npos) return;
  static const auto file = (images() / "data.yaml").string();
  std::ofstream(file, std::ios::trunc) << input;
  refusable([&] { data::read_data_yaml(file); });
}

// libFuzzer's ways in. One program with a name for each reader: fuzz_csv reads CSV files, and so
// on.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>

#include "tests/fuzz/fuzz.hpp"

namespace {

using Reader = void (*)(const std::string&);

Reader chosen = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char*** arguments) {
  using namespace evolve;
  const std::map<std::string, Reader> readers{
      {"fuzz_csv", fuzz::csv},
      {"fuzz_data_yaml", fuzz::data_yaml},
      {"fuzz_hyp", fuzz::hyp},
      {"fuzz_image", fuzz::image},
      {"fuzz_journal", fuzz::journal},
      {"fuzz_labels", fuzz::labels},
      {"fuzz_messages", fuzz::messages},
      {"fuzz_model", fuzz::model},
      {"fuzz_population", fuzz::population},
      {"fuzz_space", fuzz::space},
      {"fuzz_weights", fuzz::weights},
      {"fuzz_words", fuzz::words},
  };
  const auto name = std::filesystem::path(**arguments).filename().string();
  const auto reader = readers.find(name);
  if (reader == readers.end()) {
    std::fprintf(stderr, "%s: no reader has this name\n", name.c_str());
    return 1;
  }
  chosen = reader->second;
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  chosen(std::string(reinterpret_cast<const char*>(bytes), size));
  return 0;
}

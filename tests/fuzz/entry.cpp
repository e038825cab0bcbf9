// libFuzzer's way in.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  evolve::fuzz::take(std::string(reinterpret_cast<const char*>(bytes), size));
  return 0;
}

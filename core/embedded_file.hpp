// Files that are in the program as they are.
#pragma once

#include <string_view>

/// Makes `std::string_view NAME_file()`, the bytes of the file that an assembler source has put
/// into the program with `embedded_file NAME, "FILE"` (core/embedded_file.inc).
#define EVOLVE_EMBEDDED_FILE(name)                       \
  extern "C" const char evolve_##name##_begin[];         \
  extern "C" const char evolve_##name##_end[];           \
  static std::string_view name##_file() {                \
    return {evolve_##name##_begin, evolve_##name##_end}; \
  }

// A library that leaves a mark when it is loaded: its name, in the file that TRAP_MARK names.
#include <cstdio>
#include <cstdlib>

namespace {

const bool marked = [] {
  const char* path = std::getenv("TRAP_MARK");
  auto* file = path ? std::fopen(path, "a") : nullptr;
  if (!file) return false;
  std::fputs(TRAP_NAME "\n", file);
  return std::fclose(file) == 0;
}();

}  // namespace

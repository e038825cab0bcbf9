#include "cli/commands.hpp"

#include <cstdio>

#include "core/error.hpp"

namespace evolve::cli {

int printed(int code) {
  if (code != 0 || (std::fflush(stdout) == 0 && !std::ferror(stdout))) return code;
  throw run_failed("standard output: cannot write all of it", "make room, or print it elsewhere");
}

}  // namespace evolve::cli

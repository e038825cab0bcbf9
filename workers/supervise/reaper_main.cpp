// trial-reaper GRACE FILE WORDS…: starts a program, FILE with its WORDS, as a worker and becomes
// its reaper (child_reaper.hpp), which gives it GRACE milliseconds. core::spawn() starts it
// (core::Starter): file 3 is the lifeline, 4 the report.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

#include "core/child.hpp"
#include "workers/supervise/child_reaper.hpp"

int main(int argc, char** argv) {
  constexpr int lifeline = 3, report = 4;
  if (argc < 4) return 2;
  for (const int file : {lifeline, report}) ::fcntl(file, F_SETFD, FD_CLOEXEC);
  const auto become = [argv] { evolve::core::execute(argv[2], argv + 3, ::environ, report); };
  const std::chrono::milliseconds grace(std::atoi(argv[1]));
  const int error = evolve::workers::become_reaper(lifeline, grace, become);
  evolve::core::give_up(report, {.error = error});
}

// trial-reaper GRACE CORES FILE WORDS…: starts a program, FILE with its WORDS, as a worker bound to
// these cores ("0,1"; "": all) and becomes its reaper (child_reaper.hpp), which gives it GRACE
// milliseconds. core::spawn() starts it (core::Starter): file 3 is the lifeline, 4 the report.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <vector>

#include "core/child.hpp"
#include "core/core_mask.hpp"
#include "workers/supervise/child_reaper.hpp"

namespace {

std::vector<int> numbers_in(const char* text) {
  std::vector<int> numbers;
  for (char* end = nullptr; *text; text = *end ? end + 1 : end)
    numbers.push_back(static_cast<int>(std::strtol(text, &end, 10)));
  return numbers;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace evolve;
  constexpr int lifeline = 3, report = 4;
  if (argc < 5) return 2;
  for (const int file : {lifeline, report}) ::fcntl(file, F_SETFD, FD_CLOEXEC);
  const auto cores = numbers_in(argv[2]);
  const core::CoreMask mask(cores);
  const auto become = [&] {
    if (!cores.empty() && !mask.bind_this_thread())
      core::give_up(report, {.error = errno, .unbound = true});
    core::execute(argv[3], argv + 4, ::environ, report);
  };
  const std::chrono::milliseconds grace(std::atoi(argv[1]));
  core::give_up(report, {.error = workers::become_reaper(lifeline, grace, become)});
}

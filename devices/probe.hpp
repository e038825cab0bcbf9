// Work that may crash or hang, done in a process of its own.
#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace evolve::devices {

/// What the work came to: its text, or what went wrong with it ("it crashed (SIGSEGV)").
struct Probed {
  std::string text;
  std::string problem;
};

/// Does `work` in a child process and waits for its text, no longer than `limit`. A vendor's
/// library that `work` loads is gone with the child: one that crashes, hangs, prints, or changes
/// how signals and forks behave does no harm here. An exception of `work` is a problem in its
/// words. The child has none of our files but the pipe, and no terminal; it is killed when the
/// limit is over, and dies with us.
///
/// For a process with one thread: the child has a copy of this process' memory.
Probed in_a_probe(const std::function<std::string()>& work, std::chrono::milliseconds limit);

}  // namespace evolve::devices

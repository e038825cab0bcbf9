#include "workers/supervise/kinds.hpp"

#include <iterator>
#include <sstream>
#include <system_error>

#include "core/error.hpp"
#include "core/spawn.hpp"

namespace evolve::workers {
namespace {

Error does_not_start(const std::string& worker) {
  return run_failed(worker + " does not start", "run it with --kinds to see why");
}

}  // namespace

std::vector<std::string> trainable_kinds(const std::string& worker) try {
  const auto finished = core::run({.words = {worker, "--kinds"}});
  if (finished.status != 0) throw does_not_start(worker);
  std::istringstream words(finished.output);
  return {std::istream_iterator<std::string>(words), {}};
} catch (const std::system_error&) {
  throw does_not_start(worker);
}

}  // namespace evolve::workers

#include "cli/trainers/built_in_worker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <system_error>
#include <vector>

#include "core/error.hpp"
#include "core/spawn.hpp"
#include "workers/protocol/text.hpp"

namespace evolve::cli {

namespace fs = std::filesystem;

namespace {

fs::path worker_path() {
  return core::this_program().parent_path() / "evolve-worker";
}

/// With what it, or the system's loader, says on its standard error.
Error does_not_start(const std::string& worker) {
  const auto said = core::run({.words = {worker, "--kinds"}, .errors = core::same_as_output});
  const auto why = workers::last_line(said.output);
  return run_failed(fmt::format("{} does not start{}{}", worker, why.empty() ? "" : ": ", why),
                    "install it again, for the libtorch that is there (docs/installing.md)");
}

/// The kinds of devices that the libtorch of this worker was built for: "cpu", "cuda". Starts it
/// once; no driver is asked. Throws `Error` when it does not start.
std::vector<std::string> trainable_kinds(const std::string& worker) try {
  const auto finished = core::run({.words = {worker, "--kinds"}});
  if (finished.status != 0) throw does_not_start(worker);
  std::istringstream words(finished.output);
  return {std::istream_iterator<std::string>(words), {}};
} catch (const std::system_error& error) {
  throw run_failed(core::cannot_start(worker, error), "install it again");
}

}  // namespace

std::string built_in_worker(const std::string& instead) {
  const auto worker = worker_path();
  if (!fs::exists(worker)) {
    throw bad_input({worker.string()}, "the built-in trainer is not there",
                    "build it (cmake --preset release), or install the package evolve-worker that "
                    "scripts/wheel makes" +
                        instead);
  }
  return worker.string();
}

std::function<bool(const std::string&)> built_in_drives() {
  return [known = std::vector<std::string>()](const std::string& kind) mutable {
    if (!fs::exists(worker_path())) return true;
    if (known.empty()) known = trainable_kinds(worker_path().string());
    return std::ranges::find(known, kind) != known.end();
  };
}

Error job_failed(const workers::Ending& failure, const std::string& remedy) {
  if (failure.kind == hyp::FailureKind::data) return {Error::Fault::input, failure.message};
  return run_failed("the trainer failed (" + hyp::name_of(failure.kind) + "): " + failure.message,
                    remedy);
}

}  // namespace evolve::cli

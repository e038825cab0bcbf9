#include "cli/recorded_run.hpp"

#include <fmt/format.h>

#include <utility>

namespace evolve::cli {

RecordedRun recorded_run(const results::RunDirectory& directory) {
  auto contents = results::read_journal(directory.journal());
  if (!contents.warning.empty()) fmt::print("{}\n", contents.warning);
  auto state = engine::fold(contents.run, contents.events, directory.journal().string(), 0);
  return {std::move(contents), std::move(state)};
}

}  // namespace evolve::cli

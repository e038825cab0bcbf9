#include "cli/recorded_run.hpp"

#include <fmt/format.h>

#include <utility>

namespace evolve::cli {

RecordedRun recorded_run(const results::RunDirectory& directory) {
  auto history = results::read_journal(directory.journal());
  if (!history.warning.empty()) fmt::print("{}\n", history.warning);
  auto state = engine::fold(history.run, history.events, directory.journal().string(), 0);
  return {std::move(history), std::move(state)};
}

}  // namespace evolve::cli

#include "cli/recorded_run.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/utf8.hpp"
#include "engine/fold.hpp"

namespace evolve::cli {

RecordedRun recorded_run(const results::RunDirectory& directory) {
  auto contents = results::read_journal(directory.journal());
  if (!contents.warning.empty()) fmt::print("{}\n", core::one_line(contents.warning));
  auto state = engine::fold(contents.run, contents.events, directory.journal().string(), 0);
  return {std::move(contents), std::move(state)};
}

}  // namespace evolve::cli

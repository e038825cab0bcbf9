// A run as its journal has it.
#pragma once

#include "engine/run_state.hpp"
#include "results/journal.hpp"
#include "results/run_directory.hpp"

namespace evolve::cli {

struct RecordedRun {
  results::JournalContents contents;
  engine::RunState state;
};

/// What the journal has of a run that may be going on: it is only read. What was bred is taken as
/// it is recorded, so that a run of another version can be read too. Says on standard output where
/// the journal is torn.
RecordedRun recorded_run(const results::RunDirectory& directory);

}  // namespace evolve::cli

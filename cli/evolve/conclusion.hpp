// The last words of a run.
#pragma once

#include "cli/evolve/evolve_options.hpp"
#include "cli/screen/screen.hpp"
#include "engine/run.hpp"
#include "results/run_directory.hpp"

namespace evolve::cli {

/// Says what came of a run, which trial to use and how to go on, and returns evolve's exit code.
/// `signal`: what stopped it; 0: none did. Throws `Error` where the run failed: nothing completed,
/// or its surroundings did not let it go on.
int conclude(Screen& screen, const engine::Run& run, engine::RunEnd end,
             const results::RunDirectory& directory, const EvolveOptions& options, int signal);

}  // namespace evolve::cli

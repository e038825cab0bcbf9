// What is refused of what `evolve`, the main job, is asked for, before any file is looked at.
#pragma once

#include "cli/evolve/evolve_options.hpp"

namespace evolve::cli {

/// Throws `Error` where two options name a trainer.
void check_one_trainer(const Given& given);

/// Throws `Error` where a run that goes on, whose trainer is known, is given what that is not told.
void check_resumed_trainer(const EvolveOptions& options);

/// Throws `Error` for values that make no sense, alone or together. Its trainer is known.
void check(const EvolveOptions& options);

}  // namespace evolve::cli

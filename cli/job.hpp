// How jobs of `evolve train` and `evolve val` end for a person.
#pragma once

#include <string>

#include "core/error.hpp"
#include "workers/supervise/supervision.hpp"

namespace evolve::cli {

/// A failed job as an error: of the input, in the trainer's own words, where the trainer found
/// fault with it; else of the run, with this remedy.
Error job_failed(const workers::Ending& failure, const std::string& remedy);

}  // namespace evolve::cli

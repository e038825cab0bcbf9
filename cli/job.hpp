// What `evolve train` and `evolve val` hand to the built-in trainer, and get back.
#pragma once

#include <string>

#include "core/error.hpp"
#include "workers/supervise/run_job.hpp"

namespace evolve::cli {

/// How a job runs: by this worker, whose silence may last as long as this ("10m", "" for ever).
workers::JobSettings job_settings(const std::string& worker, const std::string& hang_timeout);

/// A failed job as an error: of the input, in the trainer's own words, where the trainer found
/// fault with it; else of the run, with this remedy.
Error job_failed(const workers::Ending& failure, const std::string& remedy);

}  // namespace evolve::cli

// The built-in trainer as it is installed: its program, and what that can train on.
#pragma once

#include <functional>
#include <string>

#include "core/error.hpp"
#include "workers/supervise/supervised_process.hpp"

namespace evolve::cli {

/// The program evolve-worker, which lies beside this one. Throws `Error` when it does not, whose
/// remedy ends with what else may be done `instead`.
std::string built_in_worker(const std::string& instead = "");

/// Whether the built-in trainer can use devices of a kind, "cuda", "xpu" or "hip"; yes where
/// evolve-worker is not installed, so that this is what is complained of. The worker is asked once,
/// when the answer is first needed.
std::function<bool(const std::string& kind)> built_in_drives();

/// A failed training or validation as an error: of the input, in the trainer's own words, where the
/// trainer found fault with it; else of the run, with this remedy.
Error job_failed(const workers::Ending& failure, const std::string& remedy);

}  // namespace evolve::cli

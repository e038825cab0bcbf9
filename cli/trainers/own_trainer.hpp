// The file that a trainer of somebody's own consists of, which evolve knows by its command alone.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/trainers/trainer.hpp"
#include "results/run_settings.hpp"

namespace evolve::cli {

/// The words of a trainer's command; none of one that comes along.
std::vector<std::string> own_words(const Trainer& trainer);

/// Which word of a command names the file that the trainer consists of, as in
/// `uv run train.py {hyp}`: the first that ends as a script does (`.py`, `.sh` and so on) and is a
/// file, or else the program, where that is named by its path. What else a command names may be a
/// lock, a log, or gigabytes.
std::optional<std::size_t> place_of_program(const std::vector<std::string>& words);

/// Throws `Error` where a run begins with an interpreter, such as python3, whose script is not
/// there.
void check_script_found(const Trainer& trainer);
/// Throws `Error` where a run goes on with a trainer whose file is not where it was, or where the
/// command says now.
void check_program_found(const results::RunSettings& run, const Trainer& trainer);

}  // namespace evolve::cli

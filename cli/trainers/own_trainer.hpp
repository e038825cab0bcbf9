// The file that a trainer of somebody's own consists of, which evolve knows by its command alone.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/trainers/trainer.hpp"

namespace evolve::cli {

/// The words of a trainer's command; none of one that comes along.
std::vector<std::string> own_words(const Trainer& trainer);

/// Which word of a command names the file that the trainer consists of, as in
/// `uv run train.py {hyp}`: the first that ends as a script does (`.py`, `.sh` and so on) and is a
/// file, or was one in its place when the run began (RunSettings::inputs), or else the program,
/// where that is named by its path. What else a command names may be a lock, a log, or gigabytes.
std::optional<std::size_t> place_of_program(const std::vector<std::string>& words,
                                            const nlohmann::ordered_json& began_with = {});

/// Throws `Error` where the command is an interpreter's, such as python3, whose script is not
/// there: of a run that begins, or that goes on and may have had it elsewhere.
void check_script_found(const Trainer& trainer, bool begins);

}  // namespace evolve::cli

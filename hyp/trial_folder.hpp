// Where a trial's files are in the run directory. The journal says it and the workers write it, so
// it is said here, once.
#pragma once

#include <string>

namespace evolve::hyp {

/// All of them.
inline constexpr auto trials_folder = "trials";
/// "trials/000017", of its repeats "trials/000017/repeat", "trials/000017/repeat2", ….
std::string trial_folder(int trial, int repeat = 0);
/// The run directory that such a folder, or a file in it, is in.
std::string run_of_trial(const std::string& path);
/// "trials/000017/log", of its repeats "trials/000017/repeat/log", ….
std::string trial_log(int trial, int repeat = 0);

/// The log's name in the folder.
inline constexpr auto log_file = "log";
/// The folder in it with the weights that a trainer leaves.
inline constexpr auto weights_folder = "weights";
/// In that, of `evolve train`: those of the best epoch and of the last one.
inline constexpr auto best_weights = "best.pt", last_weights = "last.pt";
/// The folder in it where the trial is trained once more to see whether that works.
inline constexpr auto probe_folder = "probe";
/// The file in it where a trainer that comes with evolve keeps a training that is paused.
inline constexpr auto kept_training = "paused.pt";

}  // namespace evolve::hyp

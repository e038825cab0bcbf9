// Runs evolve with one of the trainers in Python, and a stand-in for its package.
#pragma once

#include "process.hpp"

namespace evolve::test {

/// Where the stand-ins are, for PYTHONPATH.
extern const std::string packages;

/// A data set that the stand-ins take, my.yaml, and the folder `classes` of a classifier.
void write_data(const Folder& folder);

/// A Python without any package.
void make_bare_python(const std::filesystem::path& file);

/// evolve with this trainer; the run's folder is "run".
std::vector<std::string> command_of(const std::string& trainer, std::vector<std::string> arguments,
                                    const std::vector<std::string>& environment = {});

/// evolve's arguments for trials of `model`, of two epochs on one CPU slot unless `more` says so.
std::vector<std::string> trials(const std::string& model, int count = 1,
                                std::vector<std::string> more = {});

/// Runs it on the data set, in the folder, to its end.
Ended run_with(const std::string& trainer, const Folder& folder,
               const std::vector<std::string>& arguments);

/// evolve --resume on the folder's run, to its end.
Ended resumed(const Folder& folder, const std::vector<std::string>& more = {});

/// The folder of a trial in the folder's run.
std::filesystem::path trial_folder(const Folder& folder, int trial);

/// What the stand-in for Ultralytics was given for a trial, and the process that it was.
nlohmann::json settings_of(const Folder& folder, int trial);

/// Expects that this command is refused with this line.
void expect_refusal(const std::vector<std::string>& words, const std::string& line);

/// What evolve says of a run with this trainer that cannot start, before anything is written.
std::string refusal_with(const std::string& trainer, const Folder& folder,
                         const std::vector<std::string>& arguments);

/// How the first trial of `model` fails: "kind: message".
std::string failure_with(const std::string& trainer, const std::string& model,
                         std::vector<std::string> more = {});

/// Expects that a trial on this data set fails with these words, and is not held against the trial:
/// with --resume it is trained once the data are mended.
void expect_wrong_data(const std::string& trainer, const std::string& model,
                       const std::string& yaml, const std::string& words);

/// Runs 60 trials of `model` and expects that the first one that is stopped has a results.csv that
/// ends at its rung.
void expect_a_stop_at_a_rung(const std::string& trainer, const std::string& model);

/// Expects that no worker starts on a GPU that its PyTorch cannot use, nor where that sees several,
/// and that it trains on it as "cuda" with a PyTorch that can.
void expect_no_other_device(const std::string& trainer, const std::string& model);

/// Expects that the look at what the run needs, for which nobody has named a device, sees no GPU.
void expect_no_gpu_at_the_start(const std::string& trainer, const std::string& model);

/// Expects that a training completes whose weights cannot be written, and that its log says so.
void expect_a_training_without_weights(const std::string& trainer);

/// Kills evolve in the middle of 40 trials, resumes it, and expects evolve.csv to be that of a run
/// that went on undisturbed. The killed run is the folder's.
void expect_the_same_rows_after_a_kill(const std::string& trainer, const std::string& model,
                                       const Folder& folder);

}  // namespace evolve::test

// The folder of a run: where it is and what its files are called.
#pragma once

#include <filesystem>
#include <string>

#include "hyp/trial_folder.hpp"

namespace evolve::results {

/// The files of a run; those of one trial are in hyp/trial_folder.hpp.
struct RunDirectory {
  std::filesystem::path root;

  std::filesystem::path options() const { return root / "opt.yaml"; }

  // An evolution's.
  std::filesystem::path journal() const { return root / "journal.jsonl"; }
  std::filesystem::path evolve_csv() const { return root / "evolve.csv"; }
  /// Ultralytics' tuner's, since 8.4 and before.
  std::filesystem::path tune_results() const { return root / "tune_results.ndjson"; }
  std::filesystem::path tune_results_csv() const { return root / "tune_results.csv"; }
  std::filesystem::path hyp_evolved() const { return root / "hyp_evolved.yaml"; }
  std::filesystem::path population() const { return root / "evolve_population.yaml"; }
  std::filesystem::path repeats() const { return root / "repeats.csv"; }
  std::filesystem::path plot() const { return root / "evolve.png"; }
  std::filesystem::path report() const { return root / "report.html"; }
  std::filesystem::path prometheus() const { return root / "metrics.prom"; }
  std::filesystem::path devices() const { return root / "devices"; }
  std::filesystem::path explanation() const { return root / "explain.png"; }

  // A training's.
  std::filesystem::path hyp() const { return root / "hyp.yaml"; }
  std::filesystem::path results_csv() const { return root / "results.csv"; }
  std::filesystem::path results_plot() const { return root / "results.png"; }
  std::filesystem::path log() const { return root / "log"; }
  std::filesystem::path best_weights() const {
    return root / hyp::weights_folder / hyp::best_weights;
  }
  std::filesystem::path last_weights() const {
    return root / hyp::weights_folder / hyp::last_weights;
  }
  /// The weights of an earlier training here from which this one starts.
  std::filesystem::path start_weights() const { return root / hyp::weights_folder / "start.pt"; }
};

/// Makes `project`/`name`, or with the first free number from 2 on: exp, exp2, exp3, … as YOLOv5's
/// increment_path; a slash at the end of the name means nothing. Two coordinators that do this at
/// once get two folders. With `exist_ok` it is `project`/`name` in any case.
RunDirectory create_run(const std::filesystem::path& project, const std::string& name,
                        bool exist_ok);

/// Makes exactly `folder`, unless it is there already. Throws `Error` when it holds the results of
/// another program's evolution (YOLOv5's evolve.csv without a journal, Ultralytics' tune_results),
/// which would be overwritten.
RunDirectory create_run_at(const std::filesystem::path& folder);

/// Whether the first line of the folder's journal is whole: before that no run has begun.
bool holds_run(const RunDirectory& run);
/// Whether the folder has a training's hyp.yaml.
bool holds_training(const RunDirectory& run);
/// Whether the folder has an opt.yaml that is not of a training by YOLOv5.
bool has_own_options(const RunDirectory& run);

/// The run in `folder`; throws `Error` when there is none.
RunDirectory open_run(const std::filesystem::path& folder);

/// The run in `project` that has begun and whose journal was written last; throws `Error` when
/// there is none.
RunDirectory newest_run(const std::filesystem::path& project);

/// The training that is named by its folder or its weights/last.pt, and the newest one in
/// `project`, by its log. Throws `Error` when there is none.
RunDirectory open_training(const std::filesystem::path& folder_or_weights);
RunDirectory newest_training(const std::filesystem::path& project);

}  // namespace evolve::results

// The commands, one source file each. Each returns the exit code; errors are thrown as `Error`.
#pragma once

#include "cli/arguments.hpp"
#include "cli/options.hpp"

namespace evolve::cli {

/// `evolve`: the main job.
int evolve_command(const Options& options);
/// `evolve train`: one training.
int train_command(const TrainArguments& arguments);
/// `evolve val`: weights on a data set.
int val_command(const ValArguments& arguments);
/// `evolve plot EVOLVE_CSV [-o FILE]`, or a results.csv, or the folder of either
int plot_command(const std::string& named, const std::string& image);
/// `evolve explain RUN [-o FILE]`
int explain_command(const std::string& run, const std::string& image);
/// `evolve export TARGET RUN`: TARGET is a module of python/evolve/export, and the package that it
/// needs.
int export_command(const std::string& target, const std::string& run);
/// `evolve export yolov5 WEIGHTS [-o FILE]`: a checkpoint of YOLOv5's from weights that evolve has
/// trained, or from the best of a training's folder; beside them by default.
int export_weights_command(const std::string& weights, const std::string& output);
/// `evolve report RUN... [-o FILE]`
int report_command(const std::vector<std::string>& runs, const std::string& page);
/// `evolve devices [--json]`
int devices_command(bool json);
/// `evolve dataset shapes DIR`
int dataset_command(const std::string& name, const std::string& directory);

}  // namespace evolve::cli

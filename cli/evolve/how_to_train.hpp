// How a person trains with the set that a run recommends.
#pragma once

#include <string>
#include <vector>

#include "cli/trainers/trainer.hpp"
#include "hyp/hyperparameters.hpp"
#include "hyp/space.hpp"
#include "trainer/options.hpp"

namespace evolve::cli {

/// The command that trains with the hyperparameters of `file`, one set of this space, in
/// Ultralytics. The file has every number as a float and every yes or no as a text; what must be
/// something else, the command says again. It also names the optimizer and those of the options
/// that are not Ultralytics' defaults, unless the set has them itself. How many epochs is left to
/// the person, and what trials had less of for their time's sake (--fraction) is left out.
std::string ultralytics_command(const trainer::TrainOptions& options, const hyp::Space& space,
                                const hyp::Hyperparameters& hyp, const std::string& file);

/// The command that trains with the hyperparameters of `file` with `evolve train`, on the same
/// data set as the trials (all of it, whatever --fraction was) and from the same weights, for as
/// many epochs as that has by default.
std::string evolve_train_command(const trainer::TrainOptions& options,
                                 const hyp::Hyperparameters& hyp, const std::string& file);

/// The program in YOLOv5's repository, and in its package.
inline const std::string yolov5_file = "train.py", yolov5_package = "-m yolov5.train";

/// The command that trains with the hyperparameters of `file` in YOLOv5, with all options of the
/// trials that bear on training; not with what only evolve has, the embedded data set and its
/// model. `program` is what Python is to run.
std::string yolov5_command(const trainer::TrainOptions& options, const hyp::Hyperparameters& hyp,
                           const std::string& file, const std::string& program = yolov5_file);

/// The commands that train with the hyperparameters of `file`, as far as they apply to a run with
/// this trainer, a line each: the one for the program that trained (or for YOLOv5, if the set has
/// all that YOLOv5 needs), and the one for `evolve train`.
std::vector<std::string> how_to_train(const Trainer& trainer, const Python& with,
                                      const trainer::TrainOptions& options, const hyp::Space& space,
                                      const hyp::Hyperparameters& hyp, const std::string& file);

}  // namespace evolve::cli
